"""No more requests at once than can be answered in time; the others are told so at once.

Without a limit everybody waits for everybody: all threads are busy with what its sender has
given up already, and nobody learns that the server still lives.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from flask import Flask

from offdiag.settings import ServerSettings
from offdiag_web.metering import SENT_AWAY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

WAIT_S = 0.4
WAITING_PER_PLACE = 3
"""So many may wait for each that is answered: bursts of small requests are through in time."""
RETRY_AFTER_S = 2
_NEVER_WAIT = ("/healthz", "/readyz", "/static/")
"""What needs no database and next to no time; a page without its style is no page."""
_BODY = json.dumps(
    {
        "error": {
            "code": "overloaded",
            "message": "The server has more requests than it can answer in time.",
            "field": None,
            "hint": f"Try again in {RETRY_AFTER_S} seconds.",
        }
    }
).encode()


def admitting(app: Flask, settings: ServerSettings) -> Flask:
    """The same application, into which a server lets no more than it can answer."""
    app.wsgi_app = Admission(  # type: ignore[method-assign]  # as Flask tells one to
        app.wsgi_app, at_once=settings.threads, count=app.extensions[SENT_AWAY]
    )
    return app


class Admission:
    """Lets `at_once` requests into an application; three times as many wait for `wait_s` seconds.

    A request is in until its answer was sent or its connection was lost. `count` is called for
    each that is sent away.
    """

    def __init__(
        self,
        application: WSGIApplication,
        *,
        at_once: int,
        count: Callable[[], None] = lambda: None,
        wait_s: float = WAIT_S,
    ) -> None:
        self._application = application
        self._inside = threading.BoundedSemaphore(at_once)
        self._waiting = threading.BoundedSemaphore(WAITING_PER_PLACE * at_once)
        self._count = count
        self._wait_s = wait_s

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").startswith(_NEVER_WAIT):
            return self._application(environ, start_response)
        if not self._let_in():
            self._count()
            start_response(
                "503 Service Unavailable",
                [
                    ("Content-Type", "application/json"),
                    ("Content-Length", str(len(_BODY))),
                    ("Retry-After", str(RETRY_AFTER_S)),
                    ("Cache-Control", "no-store"),
                ],
            )
            return [_BODY]
        try:
            return _Answer(self._application(environ, start_response), self._inside)
        except BaseException:
            self._inside.release()
            raise

    def _let_in(self) -> bool:
        if self._inside.acquire(blocking=False):
            return True
        if not self._waiting.acquire(blocking=False):
            return False
        try:
            return self._inside.acquire(timeout=self._wait_s)
        finally:
            self._waiting.release()


class _Answer:
    """The parts of an answer; who closes it gives up the place."""

    def __init__(self, parts: Iterable[bytes], place: threading.BoundedSemaphore) -> None:
        self._parts = parts
        self._place: threading.BoundedSemaphore | None = place

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        try:
            close = getattr(self._parts, "close", None)
            if close is not None:
                close()
        finally:
            place, self._place = self._place, None
            if place is not None:
                place.release()
