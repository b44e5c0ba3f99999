"""Running jobs, each with exactly one effect.

This covers which job comes next, taking its lease, running it, and recording how the attempt
ended.

An idle worker looks for jobs without taking any lock, and claims one in a separate transaction. A
worker that ends a job claims the next one in the same transaction: on a team database that saves
two transactions of three.

The result is computed outside any writing transaction. One transaction writes it and deletes the
job, but only if the lease is still held: a worker that was thought dead and returns late writes
nothing.

The transaction that claims a job also counts the attempt.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from offdiag.domain.sentences import visible
from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.services.jobs.attempts import Ended, Never, NotYet, Outcome, RetryPolicy, ignore
from offdiag.services.jobs.kinds import TASKS, TaskKind, Writer
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.store import job_lease, jobs
from offdiag.store.database import Database, Session
from offdiag.store.jobs import Lease
from offdiag.store.retries import in_transaction

Choose = Callable[[Sequence[int | None]], int | None]
"""Picks one of the projects with waiting jobs; None stands for no particular project."""


def any_of(projects: Sequence[int | None]) -> int | None:
    """One of them at random, each equally likely."""
    return random.choice(projects)  # noqa: S311 - guessing it gains nothing.


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """Which jobs are claimed and for how long.

    A lease lasts `lease_s` seconds unless it is extended. Jobs that were begun `max_attempts`
    times are left alone, and so are jobs larger than `at_most` predicted classes and scores, if
    given.
    """

    lease_s: float
    max_attempts: int
    at_most: int | None = None
    choose: Choose = any_of

    def find(self, database: Database) -> int | None:
        """The id of a job that is free now. None if nothing is due."""
        with database.read() as session:
            return self._find(session)

    def claim(self, database: Database, work_id: int) -> Lease | None:
        """Take the lease on one job. None if it is not free."""
        with database.write() as session:
            return self._claim(session, work_id)

    def claim_within(self, session: Session) -> Lease | None:
        """Find and claim a job in a writing transaction. None also if others were faster."""
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
            token=jobs.lease_token(self.lease_s),
            lease_s=self.lease_s,
            max_attempts=self.max_attempts,
            at_most=self.at_most,
        )


_DISK_FULL_RETRY_S = 10.0
"""Seconds until a job that found the disk full is tried again."""
_UNKNOWN_TASK_RETRY_S = 30.0
"""Seconds until a job of an unknown kind is looked at again."""

ClaimNext = Callable[[Session], Lease | None]
"""Claims the next job in the transaction that ends the current one."""


def nothing(_session: Session) -> None:
    """Claim no further job."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of an attempt: `error` is why it failed, `following` the lease claimed next."""

    outcome: Outcome
    error: str | None = None
    following: Lease | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What running a job needs: database, lease keeper, retries, tasks, and listener."""

    database: Database
    keeper: LeaseKeeper
    policy: RetryPolicy
    tasks: Mapping[str, TaskKind]
    on_ended: Callable[[Ended], None]


class _LeaseLostError(Exception):
    """Rolls back a result whose lease is lost."""


def execute(lease: Lease, means: Means, claim_next: ClaimNext = nothing) -> Attempt:
    """Make one attempt at a job. After a failure, no further job is claimed.

    Raises `DatabaseUnavailable` if the database cannot be reached: the lease then expires, or is
    reported as lost once the database is back. Losing a lease without an error of the task does
    not count as an attempt.
    """
    began = time.monotonic()
    kind = means.tasks.get(lease.task)
    always_counts = kind is not None and kind.reaches_out
    with means.keeper.hold(lease, always_counts=always_counts):
        try:
            attempt = (
                _left_to_others(means.database, lease)
                if kind is None
                else _attempt(lease, means, kind, claim_next)
            )
        except StorageFull:
            raise
        except DatabaseUnavailable:
            means.keeper.report_loss(lease)
            raise
        reason = attempt.error
        if attempt.outcome is Outcome.LOST and reason is None:
            reason = means.keeper.report_loss(lease)
    means.on_ended(Ended(lease, attempt.outcome, time.monotonic() - began, reason))
    return attempt


def _attempt(lease: Lease, means: Means, kind: TaskKind, claim_next: ClaimNext) -> Attempt:
    database = means.database
    try:
        writer = kind.compute(database, lease.args)
        following = in_transaction(
            database, lambda session: _write_once(session, lease, writer, claim_next)
        )
    except _LeaseLostError:
        return Attempt(Outcome.LOST)
    except StorageFull:
        if not kind.reaches_out:
            _wait_for_disk_space(database, lease)
        raise
    except DatabaseUnavailable:
        raise
    except NotYet as pause:
        return Attempt(_defer(database, lease, pause))
    except Exception as error:  # noqa: BLE001  # The edge of a job: whatever it raises is its outcome.
        is_final = isinstance(error, Never)
        said = str(error) if is_final else f"{type(error).__name__}: {error}"
        text = "\n".join(map(visible, said.splitlines()))  # PostgreSQL stores no NUL.
        return Attempt(_failed(lease, means, kind, text, is_final=is_final), text)
    return Attempt(Outcome.DONE, following=following)


def _write_once(
    session: Session, lease: Lease, writer: Writer, claim_next: ClaimNext
) -> Lease | None:
    writer(session)
    if not jobs.finish(session, lease):
        raise _LeaseLostError
    return claim_next(session)


def _defer(database: Database, lease: Lease, pause: NotYet) -> Outcome:
    with database.write() as session:
        held = jobs.release(session, lease, error=None, delay_s=pause.delay_s, counts=False)
    return Outcome.DEFERRED if held else Outcome.LOST


def _left_to_others(database: Database, lease: Lease) -> Attempt:
    # A different version of offdiag submitted it; during an upgrade both may run.
    text = f"no worker that looked at it knows work of the kind {lease.task!r}."
    with database.write() as session:
        held = jobs.release(
            session, lease, error=text, delay_s=_UNKNOWN_TASK_RETRY_S, counts=False
        )
    return Attempt(Outcome.DEFERRED if held else Outcome.LOST, text)


def _wait_for_disk_space(database: Database, lease: Lease) -> None:
    # Releasing changes a row without adding one, which a full disk usually allows.
    with suppress(DatabaseUnavailable), database.write() as session:
        jobs.release(session, lease, error=None, delay_s=_DISK_FULL_RETRY_S, counts=False)


def _failed(lease: Lease, means: Means, kind: TaskKind, text: str, *, is_final: bool) -> Outcome:
    policy = means.policy
    with means.database.write() as session:
        if lease.attempts < policy.max_attempts and not is_final:
            delay_s = policy.delay_s(lease.attempts) * kind.delay_factor
            held = jobs.release(session, lease, error=text, delay_s=delay_s)
            return Outcome.RELEASED if held else Outcome.LOST
        if not jobs.fail_permanently(session, lease, error=text):
            return Outcome.LOST
        kind.record_failure(session, lease.args, text)
        return Outcome.FAILED


def run_due_jobs(
    database: Database,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    choose: Choose = any_of,
    *,
    goes_on: Callable[[], bool],
    at_most: int | None = None,
    on_ended: Callable[[Ended], None] = ignore,
) -> Iterator[Outcome]:
    """Run one job after another, until none is due or `goes_on` returns False.

    Each project with waiting jobs is equally likely to be next, however much it has submitted, so
    that ten thousand runs of one project do not keep a run of another waiting; within a project
    the job that has waited longest comes first. Jobs larger than `at_most` are left to others.
    `on_ended` is called for each attempt. A caller that stops iterating while `goes_on` returns
    True leaves behind a lease that is not renewed.
    """
    claims = ClaimRules(keeper.lease_s, policy.max_attempts, at_most, choose)

    def claim_next(session: Session) -> Lease | None:
        return claims.claim_within(session) if goes_on() else None

    means = Means(database, keeper, policy, tasks, on_ended)
    while (work_id := claims.find(database)) is not None:
        lease = claims.claim(database, work_id)
        if lease is None:
            yield Outcome.ALREADY_CLAIMED
        while lease is not None:
            attempt = execute(lease, means, claim_next)
            yield attempt.outcome
            lease = attempt.following
        if not goes_on():
            return


def run_next_job(
    database: Database,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    choose: Choose = any_of,
    *,
    at_most: int | None = None,
    on_ended: Callable[[Ended], None] = ignore,
) -> Outcome | None:
    """Run one job, chosen as in `run_due_jobs`. None if nothing is due."""
    outcomes = run_due_jobs(
        database,
        keeper,
        policy,
        tasks,
        choose,
        goes_on=lambda: False,
        at_most=at_most,
        on_ended=on_ended,
    )
    return next(outcomes, None)


def run_job(
    database: Database,
    work_id: int,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    *,
    at_most: int | None = None,
    on_ended: Callable[[Ended], None] = ignore,
) -> Outcome:
    """Run one job if it is free, and not larger than `at_most`.

    Errors of the task itself lead to a later attempt or, after the last one, to failure. Raises
    `DatabaseUnavailable` if the database cannot be reached: the lease then expires and the job is
    tried again. A full disk does not count as an attempt: it may stay full for longer than all
    attempts last, and no job is to blame for it.
    """
    lease = ClaimRules(keeper.lease_s, policy.max_attempts, at_most).claim(database, work_id)
    if lease is None:
        return Outcome.ALREADY_CLAIMED
    return execute(lease, Means(database, keeper, policy, tasks, on_ended)).outcome
