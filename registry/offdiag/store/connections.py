"""Opening connections, again if one is cut off before it is there, and the pauses of retries.

A server or a proxy that restarts, or an administrator, may end a connection while it is opened.
Nothing was done in it, so that is retried for every caller, even for those whose transactions
must not be repeated.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from offdiag.store.driver_errors import may_open_again

_N_PAUSES = 3
_FIRST_PAUSE_S = 0.02
_SLOW_S = 2.0
"""Whoever waited this long is not made to wait several times; no time limit can be shorter."""


def pauses_s() -> Iterator[float]:
    """Seconds before each retry, which double and are random, so that two do not collide again."""
    for turn in range(_N_PAUSES):
        yield _FIRST_PAUSE_S * 2**turn * random.uniform(0.5, 1.5)  # noqa: S311


def opened(connect: Callable[[], Connection]) -> Connection:
    """The connection that `connect` opens, retried at most three times if it is cut off."""
    for pause_s in pauses_s():
        began = time.monotonic()
        try:
            return connect()
        except DBAPIError as error:
            if not may_open_again(error) or time.monotonic() - began >= _SLOW_S:
                raise
        time.sleep(pause_s)
    return connect()
