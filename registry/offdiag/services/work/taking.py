"""Which piece of work comes next, and taking the lease on it.

An idle worker looks without taking any lock, and takes in a transaction of its own. One that
ends a piece takes the next in the transaction that ends it: on a team database that saves two
transactions of three.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from offdiag.store import job_lease
from offdiag.store.database import Database
from offdiag.store.jobs import Lease
from offdiag.store.session import Session

Choose = Callable[[Sequence[int | None]], int | None]
"""Picks one of the projects that wait; None stands for no project in particular."""


def any_of(projects: Sequence[int | None]) -> int | None:
    """One of them, each as likely."""
    return random.choice(projects)  # noqa: S311 - nobody gains by guessing it.


@dataclass(frozen=True, slots=True)
class Taking:
    """What is taken and for how long.

    A lease lasts `lease_s` seconds unless it is extended. Work that was begun `max_attempts`
    times is left, and work larger than `at_most` predicted classes and scores, if given.
    """

    lease_s: float
    max_attempts: int
    at_most: int | None = None
    choose: Choose = any_of

    def find(self, database: Database) -> int | None:
        """The id of work that is free now. None when nothing is due."""
        with database.read() as session:
            return self._find(session)

    def take(self, database: Database, work_id: int) -> Lease | None:
        """Take the lease on one piece. None if it is not free."""
        with database.write() as session:
            return self._claim(session, work_id)

    def next_within(self, session: Session) -> Lease | None:
        """Find and take within a transaction that writes. None also if others were faster."""
        work_id = self._find(session)
        return None if work_id is None else self._claim(session, work_id)

    def _find(self, session: Session) -> int | None:
        waiting = job_lease.next_of_each_project(
            session, max_attempts=self.max_attempts, at_most=self.at_most
        )
        return waiting[self.choose(list(waiting))] if waiting else None

    def _claim(self, session: Session, work_id: int) -> Lease | None:
        return job_lease.claim(
            session,
            work_id,
            token=secrets.token_hex(8),
            lease_s=self.lease_s,
            max_attempts=self.max_attempts,
            at_most=self.at_most,
        )
