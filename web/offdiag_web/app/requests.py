"""Limit how many requests are handled at once, and log and measure all of them.

Without that limit, every request waits for every other: all threads are busy with requests whose
clients have stopped waiting, and no one can see that the server is still alive.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import structlog
from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from offdiag.domain.access import Role
from offdiag.domain.runs import RunState
from offdiag.errors import DatabaseUnavailable
from offdiag.services.health import registry_metrics
from offdiag.settings import ServerSettings
from offdiag.store.database import Database
from offdiag_web.app.context import SAFE_METHODS, requires
from offdiag_web.app.dispatch import loggable_path

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Where several server processes on a host add up their counters; the library sets this name."""

SENT_AWAY = "offdiag sent away"
"""Where an application keeps the function that counts requests refused before they reached it."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def meter(app: Flask, database: Database) -> None:
    """Count the requests of `app`, and serve /metrics in the text format of Prometheus."""
    counted = CollectorRegistry()
    requests = Counter(
        "offdiag_requests",
        "Requests that were answered.",
        ["method", "rule", "status"],
        registry=counted,
    )
    seconds = Histogram(
        "offdiag_request_seconds",
        "Seconds from a request to its answer.",
        ["rule"],
        buckets=_SECONDS,
        registry=counted,
    )

    sent_away = Counter(
        "offdiag_requests_sent_away",
        "Requests that were answered 503 because too many others were being answered.",
        registry=counted,
    )
    app.extensions[SENT_AWAY] = sent_away.inc

    @app.before_request
    def start() -> None:
        g.metered_from = time.perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        rule = "none" if request.url_rule is None else request.url_rule.rule
        requests.labels(_method(), rule, str(response.status_code)).inc()
        if "metered_from" in g:
            seconds.labels(rule).observe(time.perf_counter() - g.metered_from)
        return response

    @app.get("/metrics")
    @requires(Role.VIEWER, everywhere=True)
    def metrics() -> Response:
        shown = CollectorRegistry()
        if os.environ.get(SHARED_FOLDER):
            MultiProcessCollector(shown)  # type: ignore[no-untyped-call]  # of the library
        else:
            shown.register(counted)
        shown.register(_RegistryCollector(database))
        return Response(generate_latest(shown), content_type=CONTENT_TYPE_LATEST)


def _method() -> str:
    # Clients can invent methods, and each would become a separate series.
    return request.method if request.method in {"GET", "HEAD", "POST", "PUT", "PATCH"} else "other"


class _RegistryCollector(Collector):
    """Figures of the registry, read on request; the same from every process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        is_up = GaugeMetricFamily("offdiag_database_up", "Whether the database answers.")
        try:
            found = registry_metrics(self._database)
        except DatabaseUnavailable:
            is_up.add_metric([], 0)
            yield is_up
            return
        is_up.add_metric([], 1)
        yield is_up
        runs = GaugeMetricFamily("offdiag_runs", "Runs by state.", labels=["state"])
        for run_state in RunState:
            runs.add_metric([run_state.value], found.runs_by_state.get(run_state, 0))
        yield runs
        queue = found.queue
        work = GaugeMetricFamily("offdiag_work", "Pieces of work by state.", labels=["state"])
        for state, number in (
            ("waiting", queue.waiting),
            ("doing", queue.doing),
            ("dead", queue.dead),
        ):
            work.add_metric([state], number)
        yield work
        yield GaugeMetricFamily(
            "offdiag_work_oldest_seconds",
            "Seconds that the oldest piece of work has been due.",
            value=queue.oldest_waiting_s or 0.0,
        )
        silence = GaugeMetricFamily(
            "offdiag_silence_seconds",
            "Seconds since the last heartbeat of any process of a kind.",
            labels=["kind"],
        )
        for kind, age_s in found.silence_s.items():
            silence.add_metric([kind], age_s)
        yield silence
        if found.log_bytes is not None:
            yield GaugeMetricFamily(
                "offdiag_sqlite_log_bytes",
                "Length of the write-ahead log, which grows during long reads.",
                value=found.log_bytes,
            )


log = structlog.get_logger()

REQUEST_ID_HEADER = "X-Request-Id"
_LOOKS = frozenset({"/healthz", "/readyz"})
_LONGEST_PATH = 300


def log_requests(app: Flask) -> None:
    """Identify and log the requests of `app`; install this before anything that may refuse one."""

    @app.before_request
    def name() -> None:
        g.request_id = secrets.token_hex(8)
        g.asked_at = time.perf_counter()
        # Threads handle one request after another and keep what was bound.
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)

    @app.after_request
    def tell(response: Response) -> Response:
        response.headers[REQUEST_ID_HEADER] = g.get("request_id", "")
        facts = {
            "method": request.method,
            "path": loggable_path(request.path)[:_LONGEST_PATH],
            "rule": "none" if request.url_rule is None else request.url_rule.rule,
            "status": response.status_code,
            "duration_s": round(time.perf_counter() - g.asked_at, 4) if "asked_at" in g else 0.0,
        }
        if response.status_code == 500:
            log.error("request", **facts)
        elif response.status_code > 500 and request.path not in _LOOKS:
            log.warning("request", **facts)
        elif response.status_code in {401, 403, 429} or request.method not in SAFE_METHODS:
            log.info("request", **facts)
        else:
            log.debug("request", **facts)
        return response

    @app.teardown_request
    def forget(_error: BaseException | None) -> None:
        structlog.contextvars.clear_contextvars()


LOOKING_WAITS_S = 0.2
"""People reload; a request that waits longer would be answered after more than a second."""
BRINGING_WAITS_S = 5.0
"""Training jobs would rather wait than send again."""
WAITING_PER_PLACE = 3
"""Requests that may wait for each one being handled: bursts of small ones pass in time."""
RETRY_AFTER_S = 2
_FILES = "/static/"
"""Static files need no database and next to no time, and a page is useless without its styles."""
_BODY = json.dumps(
    {
        "error": {
            "code": "overloaded",
            "message": "The server is overloaded.",
            "field": None,
            "hint": f"Try again in {RETRY_AFTER_S} seconds.",
        }
    }
).encode()
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8">{refresh}'
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
    'content="light dark"><title>Overloaded · offdiag</title><h1>The server is overloaded</h1>'
    "<p>{what_next}</p></html>"
)
_PAGE_AGAIN = _PAGE.format(
    refresh=f'<meta http-equiv="refresh" content="{RETRY_AFTER_S}">',
    what_next=f"This page tries again in {RETRY_AFTER_S} seconds.",
).encode()
_FORM_AGAIN = _PAGE.format(
    refresh="", what_next="Nothing was changed. Reload this page to send the form again."
).encode()


def admitting(app: Flask, settings: ServerSettings) -> Flask:
    """The same application, restricted to as many requests as the server can handle."""
    app.wsgi_app = Admission(  # type: ignore[method-assign]  # as Flask recommends
        app.wsgi_app, at_once=settings.threads, count=app.extensions[SENT_AWAY]
    )
    return app


class Admission:
    """Lets `at_once` requests into an application; three times as many wait for their turn.

    Reads wait for `looking_waits_s` seconds, writes for `bringing_waits_s`. A request is in until
    its response was sent or its connection was lost. `count` is called for each request that is
    refused.
    """

    def __init__(
        self,
        application: WSGIApplication,
        *,
        at_once: int,
        count: Callable[[], None] = lambda: None,
        looking_waits_s: float = LOOKING_WAITS_S,
        bringing_waits_s: float = BRINGING_WAITS_S,
    ) -> None:
        self._application = application
        self._places = _Places(at_once, most_waiting=WAITING_PER_PLACE * at_once)
        self._count = count
        self._looking_waits_s = looking_waits_s
        self._bringing_waits_s = bringing_waits_s

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path in _LOOKS or path.startswith(_FILES):
            return self._application(environ, start_response)
        is_looking = environ.get("REQUEST_METHOD") in SAFE_METHODS
        wait_s = self._looking_waits_s if is_looking else self._bringing_waits_s
        if not self._places.take(wait_s):
            self._count()
            is_page = "text/html" in environ.get("HTTP_ACCEPT", "")
            body = (_PAGE_AGAIN if is_looking else _FORM_AGAIN) if is_page else _BODY
            start_response(
                "503 Service Unavailable",
                [
                    ("Content-Type", "text/html" if is_page else "application/json"),
                    ("Content-Length", str(len(body))),
                    ("Retry-After", str(RETRY_AFTER_S)),
                    ("Cache-Control", "no-store"),
                ],
            )
            return [body]
        try:
            return _Response(self._application(environ, start_response), self._places)
        except BaseException:
            self._places.give_back()
            raise


class _Places:
    """Slots that are assigned in the order of the requests for them."""

    def __init__(self, number: int, *, most_waiting: int) -> None:
        self._free = number
        self._most_waiting = most_waiting
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def take(self, wait_s: float) -> bool:
        """Wait up to `wait_s` seconds for a slot. False without one, or if too many wait."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            if len(self._waiting) >= self._most_waiting:
                return False
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(wait_s):
            return True
        with self._lock:
            if turn.is_set():  # It was assigned just now.
                return True
            self._waiting.remove(turn)
            return False

    def give_back(self) -> None:
        """Pass a slot to the request that has waited longest, so that none overtakes it."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class _Response:
    """The parts of a response; closing it frees the slot."""

    def __init__(self, parts: Iterable[bytes], places: _Places) -> None:
        self._parts = parts
        self._places: _Places | None = places

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        try:
            close = getattr(self._parts, "close", None)
            if close is not None:
                close()
        finally:
            places, self._places = self._places, None
            if places is not None:
                places.give_back()
