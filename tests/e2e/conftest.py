"""The dashboard in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from support.browser import CHROMIUM_ARGUMENTS, Watched, Windows, chromium, served
from support.compared import ComparedRegistry, fill_compared
from support.dashboard import LesionRegistry, fill
from support.demo import run_demo
from support.once_for_all import filled_for_all, made_once
from support.registries import dashboard, shared_registry
from support.reported import ReportedRegistry, fill_reports
from support.revised import RevisedRegistry, fill_revised
from support.scored_runs import ScoredRegistry, fill_scored

Open = Callable[..., Watched]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine."""
    path = chromium()
    if path is None:
        pytest.skip("no Chromium is installed on this machine")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[Windows]:
    """Windows of that browser, for one test after the other."""
    lasting = Windows(browser)
    yield lasting
    lasting.close()


@pytest.fixture(scope="session")
def registry(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LesionRegistry]:
    """Runs of all kinds, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "browser") as database:
        yield filled_for_all(tmp_path_factory, database, fill, LesionRegistry)


@pytest.fixture(scope="session")
def base_url(registry: LesionRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry, with the gallery."""
    with served(dashboard(registry.database)) as address:
        yield address


@pytest.fixture(scope="session")
def revised(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RevisedRegistry]:
    """Corrected ground truth and what it did, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "revised") as database:
        yield filled_for_all(tmp_path_factory, database, fill_revised, RevisedRegistry)


@pytest.fixture(scope="session")
def revised_url(revised: RevisedRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(revised.database)) as address:
        yield address


@pytest.fixture(scope="session")
def scored(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ScoredRegistry]:
    """Runs with scores of all kinds, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "scored") as database:
        yield filled_for_all(tmp_path_factory, database, fill_scored, ScoredRegistry)


@pytest.fixture(scope="session")
def scored_url(scored: ScoredRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(scored.database)) as address:
        yield address


@pytest.fixture(scope="session")
def reported_url(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the dashboard over reports in every state."""
    with shared_registry(migrated_file, tmp_path_factory, "reported") as database:
        filled_for_all(tmp_path_factory, database, fill_reports, ReportedRegistry)
        with served(dashboard(database)) as address:
            yield address


@pytest.fixture(scope="session")
def compared(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComparedRegistry]:
    """Runs to compare, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "compared") as database:
        yield filled_for_all(tmp_path_factory, database, fill_compared, ComparedRegistry)


@pytest.fixture(scope="session")
def compared_url(compared: ComparedRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(compared.database)) as address:
        yield address


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the demo was called once, and what it printed."""

    def make(folder: Path) -> None:
        (folder / "printed").write_text(run_demo(folder), encoding="utf-8")

    folder = made_once(tmp_path_factory, "demo", make)
    return folder, (folder / "printed").read_text(encoding="utf-8")


@pytest.fixture
def open_at(windows: Windows) -> Iterator[Open]:
    """Opens a path of a server in a window; options are those of a Playwright context."""
    with windows.lent() as opened:

        def go(address: str, path: str, **options: Any) -> Watched:
            seen = opened(address, **options)
            seen.goto(path)
            return seen

        yield go


@pytest.fixture
def open_page(open_at: Open, base_url: str) -> Open:
    """Opens a path of the dashboard over runs of all kinds."""
    return partial(open_at, base_url)


@pytest.fixture
def open_revised(open_at: Open, revised_url: str) -> Open:
    """The same over the registry whose ground truth was corrected."""
    return partial(open_at, revised_url)


@pytest.fixture
def open_scored(open_at: Open, scored_url: str) -> Open:
    """The same over the registry of runs with scores."""
    return partial(open_at, scored_url)


@pytest.fixture
def open_reported(open_at: Open, reported_url: str) -> Open:
    """The same over the registry of reports."""
    return partial(open_at, reported_url)


@pytest.fixture
def open_compared(open_at: Open, compared_url: str) -> Open:
    """The same over the registry of runs to compare."""
    return partial(open_at, compared_url)
