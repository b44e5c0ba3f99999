"""The dashboard in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from support.browser import CHROMIUM_ARGUMENTS, Watched, Windows, chromium, served
from support.dashboard import LesionRegistry, fill
from support.registries import dashboard, shared_registry
from support.reported import fill_reports
from support.revised import RevisedRegistry, fill_revised
from support.scored_runs import ScoredRegistry, fill_scored

OpenPage = Callable[..., Watched]


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
    """Runs and reports of all kinds, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "browser") as database:
        filled = fill(database)
        fill_reports(database)
        yield filled


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
        yield fill_revised(database)


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
        yield fill_scored(database)


@pytest.fixture(scope="session")
def scored_url(scored: ScoredRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(scored.database)) as address:
        yield address


@pytest.fixture
def open_page(windows: Windows, base_url: str) -> Iterator[OpenPage]:
    """Opens a path in a window of its own; options are those of a Playwright context."""
    yield from _opener(windows, base_url)


@pytest.fixture
def open_revised(windows: Windows, revised_url: str) -> Iterator[OpenPage]:
    """The same over the registry whose ground truth was corrected."""
    yield from _opener(windows, revised_url)


@pytest.fixture
def open_scored(windows: Windows, scored_url: str) -> Iterator[OpenPage]:
    """The same over the registry of runs with scores."""
    yield from _opener(windows, scored_url)


def _opener(windows: Windows, address: str) -> Iterator[OpenPage]:
    with windows.lent() as opened:

        def go(path: str, **options: Any) -> Watched:
            seen = opened(address, **options)
            seen.page.goto(path)
            return seen

        yield go
