"""The dashboard in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from offdiag.store.database import Database
from support.browser import CHROMIUM_ARGUMENTS, Watched, Windows, chromium, served
from support.compared import ComparedRegistry, fill_compared
from support.dashboard import LesionRegistry, fill
from support.demo import run_demo
from support.kinds import Files
from support.once_for_all import Given, filled_for_all, made_once
from support.registries import dashboard
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


def _filled(fill_with: Callable[[Database], Given], kind: Callable[..., Given]) -> Any:
    """A fixture: a registry that is filled once, shared by tests that only read."""

    @pytest.fixture(scope="session")
    def filled(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
        with files.new(tmp_path_factory.mktemp("filled")) as database:
            yield filled_for_all(tmp_path_factory, database, fill_with, kind)

    return filled


def _url_of(name: str) -> Any:
    """A fixture: the address of the dashboard over a registry, with the gallery."""

    @pytest.fixture(scope="session")
    def url(request: pytest.FixtureRequest) -> Iterator[str]:
        with served(dashboard(request.getfixturevalue(name).database)) as address:
            yield address

    return url


def _opening(url: str) -> Any:
    """A fixture: opens a path of the dashboard at an address."""

    @pytest.fixture
    def open_there(open_at: Open, request: pytest.FixtureRequest) -> Open:
        return partial(open_at, request.getfixturevalue(url))

    return open_there


registry = _filled(fill, LesionRegistry)
revised = _filled(fill_revised, RevisedRegistry)
scored = _filled(fill_scored, ScoredRegistry)
reported = _filled(fill_reports, ReportedRegistry)
compared = _filled(fill_compared, ComparedRegistry)
base_url = _url_of("registry")
revised_url = _url_of("revised")
scored_url = _url_of("scored")
reported_url = _url_of("reported")
compared_url = _url_of("compared")
open_page = _opening("base_url")
open_revised = _opening("revised_url")
open_scored = _opening("scored_url")
open_reported = _opening("reported_url")
open_compared = _opening("compared_url")


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
