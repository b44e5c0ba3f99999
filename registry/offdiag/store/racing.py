"""Transactions that are begun anew: where two insert the same thing, and where one is cut off.

SQLite has one writer at a time. On PostgreSQL both may look, find nothing and insert; then the
unique constraint stops the second one, which has to look again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

from offdiag.errors import DatabaseUnavailable
from offdiag.store.failures import Passing, passing

Result = TypeVar("Result")

_TURNS = 5
"""Each turn finds one more thing that another transaction has inserted: a project, a dataset…"""
_REPEATS = 3
_FIRST_PAUSE_S = 0.02


def after_races(transaction: Callable[[], Result], *, finds_itself: bool = True) -> Result:
    """What a whole transaction returns, begun anew where another one was faster.

    So it is where the server ended it, as `after_failures` does.
    """
    for _ in range(_TURNS):
        try:
            return after_failures(transaction, finds_itself=finds_itself)
        except IntegrityError:
            continue
    return after_failures(transaction, finds_itself=finds_itself)


def after_failures(transaction: Callable[[], Result], *, finds_itself: bool = True) -> Result:
    """What a whole transaction returns, begun anew where the server ended it and goes on.

    Deadlocks, rows that changed, connections that were terminated: at most three times, after
    pauses that double and differ, so that two that met do not meet again. One that does not
    find what it did already is not begun anew when the answer to its commit was lost.
    """
    for turn in range(_REPEATS):
        try:
            return transaction()
        except DatabaseUnavailable as error:
            became = passing(error)
            if became is None or (became is Passing.UNKNOWN and not finds_itself):
                raise
            time.sleep(_FIRST_PAUSE_S * 2**turn * random.uniform(0.5, 1.5))  # noqa: S311
    return transaction()
