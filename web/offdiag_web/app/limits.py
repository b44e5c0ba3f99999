"""How often and how much may be asked: attempts by address or name, and requests at once.

Without a limit on requests at once everybody waits for everybody: all threads are busy with
what its sender has given up already, and nobody learns that the server still lives.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from flask import Flask, current_app
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from limits import RateLimitItem, parse_many

from offdiag.domain.access import Caller
from offdiag.errors import TooManyRequests
from offdiag.settings import AccessSettings, ServerSettings
from offdiag_web.app.permissions import Rate
from offdiag_web.app.requests import SENT_AWAY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


LOOKING_WAITS_S = 0.2
"""People look again; whoever waits longer than that gets an answer after a second and more."""
BRINGING_WAITS_S = 5.0
"""Training jobs would rather wait than come again."""
WAITING_PER_PLACE = 3
"""So many may wait for each that is answered: bursts of small requests are through in time."""
RETRY_AFTER_S = 2
_NEVER_WAIT = frozenset({"/healthz", "/readyz"})
_FILES = "/static/"
"""They need no database and next to no time, and a page without its style is no page."""
_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
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


def admitting(app: Flask, settings: ServerSettings) -> Flask:
    """The same application, into which a server lets no more than it can answer."""
    app.wsgi_app = Admission(  # type: ignore[method-assign]  # as Flask tells one to
        app.wsgi_app, at_once=settings.threads, count=app.extensions[SENT_AWAY]
    )
    return app


class Admission:
    """Lets `at_once` requests into an application; three times as many wait for their turn.

    Who only looks waits for `looking_waits_s` seconds, who brings something for
    `bringing_waits_s`. A request is in until its answer was sent or its connection was lost.
    `count` is called for each that is sent away.
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
        if path in _NEVER_WAIT or path.startswith(_FILES):
            return self._application(environ, start_response)
        is_looking = environ.get("REQUEST_METHOD") in _LOOKING
        wait_s = self._looking_waits_s if is_looking else self._bringing_waits_s
        if not self._places.take(wait_s):
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
            return _Response(self._application(environ, start_response), self._places)
        except BaseException:
            self._places.give_back()
            raise


class _Places:
    """Places that are handed on in the order in which they were asked for."""

    def __init__(self, number: int, *, most_waiting: int) -> None:
        self._free = number
        self._most_waiting = most_waiting
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def take(self, wait_s: float) -> bool:
        """Wait for a place for so long. False if there is none, or no room to wait."""
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
            if turn.is_set():  # In this very moment.
                return True
            self._waiting.remove(turn)
            return False

    def give_back(self) -> None:
        """Hand a place to whoever waits longest, so that nobody who comes later is before."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class _Response:
    """The parts of an answer; who closes it gives up the place."""

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


KEY = "offdiag rates"
GUESSES = "guessed-token"


class Rates:
    """The limits of an application. Counters live in its memory, or where several share them."""

    def __init__(self, limiter: Limiter, settings: AccessSettings) -> None:
        self._limiter = limiter
        self._limits = {
            Rate.READ: parse_many(settings.read_limit),
            Rate.WRITE: parse_many(settings.write_limit),
            Rate.API: parse_many(settings.api_limit),
            Rate.SIGN_IN: parse_many(settings.sign_in_limit),
        }
        self._by_name = parse_many(settings.sign_in_limit_by_name)

    def spend(self, rate: Rate, *whose: str) -> None:
        """Count one more. Raises `TooManyRequests` where that is one too many."""
        for limit in self._limits.get(rate, ()):
            if not self._limiter.limiter.hit(limit, rate, *whose):
                raise self._refusal(limit, rate, *whose)

    def require_capacity(self, rate: str, *whose: str) -> None:
        """Raise `TooManyRequests` where no attempt is left; count nothing."""
        for limit in self._limits_of(rate):
            if not self._limiter.limiter.test(limit, rate, *whose):
                raise self._refusal(limit, rate, *whose)

    def note(self, rate: str, *whose: str) -> None:
        """Count a failed attempt."""
        for limit in self._limits_of(rate):
            self._limiter.limiter.hit(limit, rate, *whose)

    def _limits_of(self, rate: str) -> list[RateLimitItem]:
        return self._by_name if rate == "sign-in-name" else list(self._limits[Rate.SIGN_IN])

    def _refusal(self, limit: RateLimitItem, rate: str, *whose: str) -> TooManyRequests:
        ends = self._limiter.limiter.get_window_stats(limit, rate, *whose).reset_time
        wait_s = max(1, math.ceil(ends - time.time()))
        return TooManyRequests(
            f"that was more than {limit}.",
            retry_after_s=wait_s,
            hint=f"Try again in {wait_s} s.",
        )


def limit(app: Flask, settings: AccessSettings, *, counts: bool) -> None:
    """Give an application its counters; without `counts` nothing is ever refused."""
    limiter = Limiter(
        get_remote_address,
        app=app,
        storage_uri=settings.rate_storage,
        strategy="moving-window",
        enabled=True,
    )
    app.extensions[KEY] = Rates(limiter, settings) if counts else None


def count(rate: Rate, who: Caller | None) -> None:
    """Count a request against its limit."""
    rates = _rates()
    if rates is not None and rate not in {Rate.FREE, Rate.SIGN_IN}:
        rates.spend(rate, get_remote_address() if who is None else who.name)


def count_guess() -> None:
    """Count a wrong token against the address that sent it. Raises `TooManyRequests`.

    Tokens that are right go on working from there: they cannot be guessed, and many programs
    may share an address.
    """
    rates = _rates()
    if rates is not None:
        rates.require_capacity(GUESSES, get_remote_address())
        rates.note(GUESSES, get_remote_address())


def refuse_attempts(name: str) -> None:
    """Raise `TooManyRequests` where an address, or anybody for this name, failed too often.

    One address can use up but a part of the attempts that a name has, so nobody locks out
    somebody else from where they sit.
    """
    rates = _rates()
    if rates is not None:
        rates.require_capacity("sign-in", get_remote_address())
        rates.require_capacity("sign-in-name", name.casefold())


def count_attempt(name: str) -> None:
    """Count a sign-in that failed."""
    rates = _rates()
    if rates is not None:
        rates.note("sign-in", get_remote_address())
        rates.note("sign-in-name", name.casefold())


def _rates() -> Rates | None:
    found = current_app.extensions.get(KEY)
    return found if isinstance(found, Rates) else None
