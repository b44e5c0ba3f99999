"""Doing pieces of work, each with the effect of exactly once.

The lease is taken in a transaction that also counts the attempt: one of its own, or the one
that ends the piece before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from offdiag.services.work.attempts import Ended, Outcome, RetryPolicy, nobody
from offdiag.services.work.doing import Means, do
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.taking import Choose, Taking, any_of
from offdiag.services.work.tasks import TASKS, TaskKind
from offdiag.store.database import Database
from offdiag.store.jobs import Lease
from offdiag.store.session import Session


def perform_due(
    database: Database,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    choose: Choose = any_of,
    *,
    goes_on: Callable[[], bool],
    at_most: int | None = None,
    tell: Callable[[Ended], None] = nobody,
) -> Iterator[Outcome]:
    """Do one piece of work after another, until none is due or `goes_on` says to stop.

    Each project that waits is as likely to be worked for next, however much it has asked for,
    so that ten thousand runs of one do not keep one run of another waiting; within a project
    what has waited longest comes first. Work larger than `at_most` is left to others. Each
    attempt is told to `tell`. Whoever stops asking for outcomes while `goes_on` says yes leaves
    a lease behind that nobody keeps.
    """
    taking = Taking(keeper.lease_s, policy.max_attempts, at_most, choose)

    def take_next(session: Session) -> Lease | None:
        return taking.next_within(session) if goes_on() else None

    means = Means(database, keeper, policy, tasks, tell)
    while (work_id := taking.find(database)) is not None:
        lease = taking.take(database, work_id)
        if lease is None:
            yield Outcome.TAKEN
        while lease is not None:
            attempt = do(lease, means, take_next)
            yield attempt.outcome
            lease = attempt.following
        if not goes_on():
            return


def perform_next(
    database: Database,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    choose: Choose = any_of,
    *,
    at_most: int | None = None,
    tell: Callable[[Ended], None] = nobody,
) -> Outcome | None:
    """Do one piece of work, chosen as by `perform_due`. None when nothing is due."""
    outcomes = perform_due(
        database, keeper, policy, tasks, choose, goes_on=_never, at_most=at_most, tell=tell
    )
    return next(outcomes, None)


def perform(
    database: Database,
    work_id: int,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    *,
    at_most: int | None = None,
    tell: Callable[[Ended], None] = nobody,
) -> Outcome:
    """Do one piece of work if it is free, and not larger than `at_most`.

    Errors of the work itself end in a later attempt or, after the last one, in burial.
    Raises `DatabaseUnavailable` when the database cannot be reached: the lease then runs out
    and the work is taken up again. A full disk is no attempt: it may stay full for longer than
    all attempts last, and no work is to blame for it.
    """
    lease = Taking(keeper.lease_s, policy.max_attempts, at_most).take(database, work_id)
    if lease is None:
        return Outcome.TAKEN
    return do(lease, Means(database, keeper, policy, tasks, tell)).outcome


def _never() -> bool:
    return False
