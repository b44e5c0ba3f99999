"""Retrying transactions when two insert the same thing, and when one is cut off.

SQLite has one writer at a time. On PostgreSQL two transactions may both look for a row, find
nothing and insert; the unique constraint then stops the second one, which has to look again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database, Session
from offdiag.store.driver_errors import Passing, passing
from offdiag.store.engines import pauses_s

Result = TypeVar("Result")

_TURNS = 5
"""Each retry finds one more row that another transaction inserted: a project, a dataset…"""


def after_races(
    database: Database, transaction: Callable[[Session], Result], *, finds_itself: bool = True
) -> Result:
    """The result of a whole transaction, retried when another one was faster.

    It is also retried when the server ended it, as in `after_failures`.
    """
    for _ in range(_TURNS):
        try:
            return in_transaction(database, transaction, finds_itself=finds_itself)
        except IntegrityError:
            continue
    return in_transaction(database, transaction, finds_itself=finds_itself)


def in_transaction(
    database: Database, act: Callable[[Session], Result], *, finds_itself: bool = True
) -> Result:
    """What `act` returns in a transaction of its own, retried as in `after_failures`."""

    def transaction() -> Result:
        with database.write() as session:
            return act(session)

    return after_failures(transaction, finds_itself=finds_itself)


def after_failures(transaction: Callable[[], Result], *, finds_itself: bool = True) -> Result:
    """The result of a whole transaction, retried when the server ended it but keeps running.

    This covers deadlocks, concurrent updates and terminated connections: at most three retries,
    after the pauses of `pauses_s`. If the answer to a commit was lost, a transaction is only
    retried when it `finds_itself`, that is, when it recognises what its first attempt did.
    """
    for pause_s in pauses_s():
        try:
            return transaction()
        except DatabaseUnavailable as error:
            became = passing(error)
            if became is None or (became is Passing.UNKNOWN and not finds_itself):
                raise
            time.sleep(pause_s)
    return transaction()
