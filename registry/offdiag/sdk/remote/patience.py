"""Trying again: when, and for how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from offdiag.errors import ServerUnavailable
from offdiag.sdk.remote.connection import Busy

Result = TypeVar("Result")

_FIRST_DELAY_S = 0.1
_LONGEST_DELAY_S = 10.0


def delays() -> Iterator[float]:
    """Seconds to wait between attempts: twice as long each time, and not all clients at once."""
    delay = _FIRST_DELAY_S
    while True:
        yield delay * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        delay = min(2 * delay, _LONGEST_DELAY_S)


def delay_before_next(error: ServerUnavailable, planned_s: float) -> float:
    """The planned delay, or the longer one that the server asks for."""
    asked = error.retry_after_s if isinstance(error, Busy) else None
    return planned_s if asked is None else max(planned_s, asked)


def patiently(attempt: Callable[[], Result], *, patience_s: float) -> Result:
    """What the attempt returns, made again while the server is not available.

    Raises `ServerUnavailable` when the patience is used up, and every other error at once.
    """
    give_up_at = time.monotonic() + patience_s
    for planned_s in delays():
        try:
            return attempt()
        except ServerUnavailable as error:
            delay = delay_before_next(error, planned_s)
            if time.monotonic() + delay > give_up_at:
                raise
            time.sleep(delay)
    raise AssertionError  # The delays never end.
