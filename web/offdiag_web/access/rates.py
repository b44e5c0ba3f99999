"""How often somebody may ask: by address where nobody is known, by name where somebody is."""

from __future__ import annotations

import math
import time

from flask import Flask, current_app
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from limits import RateLimitItem, parse_many

from offdiag.domain.access import Principal
from offdiag.errors import TooManyRequests
from offdiag.settings import AccessSettings
from offdiag_web.access.needs import Rate

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

    def require_room(self, rate: str, *whose: str) -> None:
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


def count(rate: Rate, who: Principal | None) -> None:
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
        rates.require_room(GUESSES, get_remote_address())
        rates.note(GUESSES, get_remote_address())


def refuse_attempts(name: str) -> None:
    """Raise `TooManyRequests` where an address, or anybody for this name, failed too often.

    One address can use up but a part of the attempts that a name has, so nobody locks out
    somebody else from where they sit.
    """
    rates = _rates()
    if rates is not None:
        rates.require_room("sign-in", get_remote_address())
        rates.require_room("sign-in-name", name.casefold())


def count_attempt(name: str) -> None:
    """Count a sign-in that failed."""
    rates = _rates()
    if rates is not None:
        rates.note("sign-in", get_remote_address())
        rates.note("sign-in-name", name.casefold())


def _rates() -> Rates | None:
    found = current_app.extensions.get(KEY)
    return found if isinstance(found, Rates) else None
