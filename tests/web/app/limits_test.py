"""Who is let in by a server that is asked more than it can answer, and who waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest
from werkzeug.test import Client

from offdiag_web.app.requests import WAITING_PER_PLACE, Admission

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_PATIENCE_S = 60.0


class Slow:
    """An application that answers once it may."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.n_inside = 0
        self.queries: list[str] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.n_inside += 1
        self.queries.append(environ["QUERY_STRING"])
        if environ["PATH_INFO"] == "/slow":
            assert self.may_go_on.wait(_PATIENCE_S)
        start_response("200 OK", [])
        return [b"done"]


class Crowd:
    """People who each ask once, at the same time."""

    def __init__(self, gate: Admission) -> None:
        self.statuses: list[int] = []
        self._gate = gate
        self._threads: list[threading.Thread] = []

    def ask(self, query: str = "", *, method: str = "GET") -> None:
        def get() -> None:
            answer = Client(self._gate).open(f"/slow?{query}", method=method, buffered=True)
            self.statuses.append(answer.status_code)

        self._threads.append(threading.Thread(target=get))
        self._threads[-1].start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(_PATIENCE_S)


@pytest.fixture
def slow() -> Iterator[Slow]:
    application = Slow()
    yield application
    application.may_go_on.set()


def until(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


def test_a_burst_waits_and_who_comes_on_top_is_sent_away_at_once(slow: Slow) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=_PATIENCE_S)
    crowd = Crowd(gate)
    for _ in range(1 + WAITING_PER_PLACE + 2):
        crowd.ask()

    # The two that found no room to wait do not wait for the others.
    until(lambda: len(crowd.statuses) == 2)
    assert crowd.statuses == [503, 503]
    assert slow.n_inside == 1

    slow.may_go_on.set()
    crowd.join()
    assert sorted(crowd.statuses) == [200] * (1 + WAITING_PER_PLACE) + [503] * 2


def test_who_has_waited_long_enough_is_sent_away_with_a_time_to_come_back(slow: Slow) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=0.05)
    crowd = Crowd(gate)
    crowd.ask()
    until(lambda: slow.n_inside == 1)

    answer = Client(gate).get("/slow", buffered=True)

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "2"
    assert slow.n_inside == 1


def test_a_browser_gets_a_page_that_tries_again_unless_it_sent_a_form(slow: Slow) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=0.05, bringing_waits_s=0.05)
    crowd = Crowd(gate)
    crowd.ask()
    until(lambda: slow.n_inside == 1)
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    page = Client(gate).get("/slow", headers=browser, buffered=True)
    form = Client(gate).post("/slow", headers=browser, buffered=True)
    program = Client(gate).get("/slow", headers={"Accept": "*/*"}, buffered=True)

    assert [each.status_code for each in (page, form, program)] == [503] * 3
    assert 'http-equiv="refresh" content="2"' in page.text
    # The same address without the form would be another request.
    assert "refresh" not in form.text
    assert "Nothing was changed" in form.text
    assert program.get_json()["error"]["code"] == "overloaded"


def test_who_brings_something_waits_longer_than_who_looks(slow: Slow) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=0.0, bringing_waits_s=_PATIENCE_S)
    crowd = Crowd(gate)
    crowd.ask()
    until(lambda: slow.n_inside == 1)

    for method in ("GET", "POST", "GET", "PUT"):
        crowd.ask(method=method)
    until(lambda: crowd.statuses == [503, 503])

    slow.may_go_on.set()
    crowd.join()
    assert sorted(crowd.statuses) == [200, 200, 200, 503, 503]


def test_turns_are_taken_in_the_order_of_coming_and_nobody_passes_by(slow: Slow) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=_PATIENCE_S)
    crowd = Crowd(gate)
    places = gate._places

    def are_here(number: int) -> bool:
        return slow.n_inside + len(places._waiting) == number

    for number in range(1 + WAITING_PER_PLACE):
        crowd.ask(str(number))
        until(partial(are_here, number + 1))

    slow.may_go_on.set()
    crowd.join()

    assert slow.queries == [str(number) for number in range(1 + WAITING_PER_PLACE)]
    assert places._free == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/static/style.css"])
def test_health_and_the_files_of_pages_never_wait(slow: Slow, path: str) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=_PATIENCE_S)
    crowd = Crowd(gate)
    crowd.ask()
    until(lambda: slow.n_inside == 1)

    assert Client(gate).get(path, buffered=True).status_code == 200


@pytest.mark.parametrize("path", ["/healthz-of-others", "/readyz/", "/statics"])
def test_what_only_begins_like_them_waits_like_everything_else(slow: Slow, path: str) -> None:
    gate = Admission(slow, at_once=1, looking_waits_s=0.0)
    crowd = Crowd(gate)
    crowd.ask()
    until(lambda: slow.n_inside == 1)

    assert Client(gate).get(path, buffered=True).status_code == 503
