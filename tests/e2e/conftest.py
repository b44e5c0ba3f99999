"""The dashboard in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.browser import CHROMIUM_ARGUMENTS, Watched, chromium, served, watched
from support.dashboard import LesionRegistry, fill
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
def registry(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LesionRegistry]:
    """Runs and reports of all kinds, shared by tests that only read."""
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("browser") / "registry.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    filled = fill(database)
    fill_reports(database)
    yield filled
    database.close()


@pytest.fixture(scope="session")
def base_url(registry: LesionRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry, with the gallery."""
    app = create_app(Settings(), registry.database)
    app.testing = True
    with served(app) as address:
        yield address


@pytest.fixture(scope="session")
def revised(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RevisedRegistry]:
    """Corrected ground truth and what it did, shared by tests that only read."""
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("revised") / "registry.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    yield fill_revised(database)
    database.close()


@pytest.fixture(scope="session")
def revised_url(revised: RevisedRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    app = create_app(Settings(), revised.database)
    app.testing = True
    with served(app) as address:
        yield address


@pytest.fixture(scope="session")
def scored(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ScoredRegistry]:
    """Runs with scores of all kinds, shared by tests that only read."""
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("scored") / "registry.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    yield fill_scored(database)
    database.close()


@pytest.fixture(scope="session")
def scored_url(scored: ScoredRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    app = create_app(Settings(), scored.database)
    app.testing = True
    with served(app) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, base_url: str) -> Iterator[OpenPage]:
    """Opens a path in a fresh context; options are those of a Playwright context."""
    yield from _opener(browser, base_url)


@pytest.fixture
def open_revised(browser: Browser, revised_url: str) -> Iterator[OpenPage]:
    """The same over the registry whose ground truth was corrected."""
    yield from _opener(browser, revised_url)


@pytest.fixture
def open_scored(browser: Browser, scored_url: str) -> Iterator[OpenPage]:
    """The same over the registry of runs with scores."""
    yield from _opener(browser, scored_url)


def _opener(browser: Browser, address: str) -> Iterator[OpenPage]:
    contexts: list[BrowserContext] = []

    def go(path: str, **options: Any) -> Watched:
        context = browser.new_context(base_url=address, **options)
        contexts.append(context)
        seen = watched(context, address)
        seen.page.goto(path)
        return seen

    yield go
    for context in contexts:
        context.close()
