"""How long pages take, one after the other in one process: reading, computing and rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient
from sqlalchemy import Engine, event

from load.page_list import UNLIMITED, AskedPage, page_list, searches
from load.programs import KEY
from load.subjects import subjects_of
from offdiag.settings import AccessSettings, ServerSettings, Settings
from offdiag.store.database import Database
from offdiag.store.run_list import RunOverview, run_overview
from offdiag_web import create_app
from offdiag_web.app.dispatch import lazy_views
from offdiag_web.pages.runs import page as runs_page
from offdiag_web.wsgi import settle

LIST = "runs"
RENDERING = "runs, rendered from memory"
"""The list of runs as it is, but for what the database does: the floor of every list."""
_UNLIMITED = "1000000 per second"


@dataclass(frozen=True, slots=True)
class PageTimes:
    """Milliseconds of one page by the clock, and the statements that it sends."""

    p50_ms: float
    p95_ms: float
    limit_ms: float
    n_statements: int


Pages = Mapping[str, PageTimes]
"""By the name of the page."""


def measure_pages(database: Database, *, turns: int) -> Pages:
    """Every page asked for so many times, in turns, so that a disturbance hits all alike."""
    access = AccessSettings(read_limit=_UNLIMITED, api_limit=_UNLIMITED)
    settings = Settings(access=access, server=ServerSettings(secret_key=KEY))
    app = create_app(settings, database)
    client = app.test_client()
    lazy_views(app).load_all()
    settle()  # As servers do.
    pages = {**page_list(subjects_of(database)), **searches()}
    statements = {name: _n_statements(client, page) for name, page in pages.items()}
    seconds: dict[str, list[float]] = {name: [] for name in (*pages, RENDERING)}
    for _ in range(turns):
        for name, page in pages.items():
            seconds[name].append(_seconds(client, page))
        with _read_before(client, pages[LIST]):
            seconds[RENDERING].append(_seconds(client, pages[LIST]))
    limits = {name: page.limit_ms for name, page in pages.items()}
    return {
        name: PageTimes(
            _ms(median(found)),
            _ms(quantiles(found, n=20, method="inclusive")[-1]),
            limits.get(name, UNLIMITED),
            statements.get(name, 0),
        )
        for name, found in seconds.items()
    }


def _seconds(client: FlaskClient, page: AskedPage) -> float:
    started = perf_counter()
    answer = client.get(page.path, buffered=True)
    body = answer.data
    seconds = perf_counter() - started
    if answer.status_code != 200 or not body:
        raise RuntimeError(f"{page.path} answered {answer.status}")
    return seconds


def _n_statements(client: FlaskClient, page: AskedPage) -> int:
    """Statements that read, but for what the navigation of all pages asks in several seconds."""
    client.get(page.path, buffered=True)
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        _seconds(client, page)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return sum("/* navigation */" not in statement for statement in sent)


@contextmanager
def _read_before(client: FlaskClient, page: AskedPage) -> Iterator[None]:
    """Let the list of runs answer with what it read once, without asking the database."""
    kept: list[RunOverview] = []

    def browse_once(*arguments: Any, **named: Any) -> RunOverview:
        if not kept:
            kept.append(run_overview(*arguments, **named))
        return kept[0]

    with patch.object(runs_page, "run_overview", browse_once):
        client.get(page.path, buffered=True)
        yield


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
