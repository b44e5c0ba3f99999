"""Doing work that a lease is held on, and writing down how the attempt ended.

The result is computed outside any transaction that writes. One transaction writes it and
deletes the work, and only if the lease is still held: a worker that was thought dead and comes
back late writes nothing. Who goes on working takes the next lease in that same transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.services.work.attempts import Ended, Outcome, RetryPolicy
from offdiag.services.work.endings import Never, NotYet
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.tasks import TaskKind, Writer
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.failures import after_failures
from offdiag.store.jobs import Lease
from offdiag.store.session import Session

_LOOK_FOR_ROOM_S = 10.0
"""Seconds until work that found the disk full is tried again."""
_LOOK_FOR_OTHERS_S = 30.0
"""Seconds until work of an unknown kind is looked at again."""

TakeNext = Callable[[Session], Lease | None]
"""Takes the next lease within the transaction that ends a piece of work."""


def nothing(_session: Session) -> None:
    """What one takes next who stops after this piece."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one went. `error` is what it failed with, `following` the lease that was taken next."""

    outcome: Outcome
    error: str | None = None
    following: Lease | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What one needs to do work: where, who keeps leases, which kinds, who is told of attempts."""

    database: Database
    keeper: LeaseKeeper
    policy: RetryPolicy
    tasks: Mapping[str, TaskKind]
    tell: Callable[[Ended], None]


class _LeaseLostError(Exception):
    """Rolls back a result whose lease is gone."""


def do(lease: Lease, means: Means, take_next: TakeNext = nothing) -> Attempt:
    """Make one attempt. Nothing is taken next after one that failed.

    Raises `DatabaseUnavailable` when the database cannot be reached: the lease then runs out, or
    is given up once it can be. A lease that is lost without an error of the task is no attempt.
    """
    began = time.monotonic()
    kind = means.tasks.get(lease.task)
    always_counts = kind is not None and kind.reaches_out
    with means.keeper.hold(lease, always_counts=always_counts):
        try:
            attempt = (
                _left_to_others(means.database, lease)
                if kind is None
                else _attempt(lease, means, kind, take_next)
            )
        except StorageFull:
            raise
        except DatabaseUnavailable:
            means.keeper.let_go(lease)
            raise
        reason = attempt.error
        if attempt.outcome is Outcome.LOST and reason is None:
            reason = means.keeper.let_go(lease)
    means.tell(Ended(lease, attempt.outcome, time.monotonic() - began, reason))
    return attempt


def _attempt(lease: Lease, means: Means, kind: TaskKind, take_next: TakeNext) -> Attempt:
    database = means.database
    try:
        writer = kind.compute(database, lease.args)
        following = after_failures(lambda: _write_once(database, lease, writer, take_next))
    except _LeaseLostError:
        return Attempt(Outcome.LOST)
    except StorageFull:
        if not kind.reaches_out:
            _wait_for_room(database, lease)
        raise
    except DatabaseUnavailable:
        raise
    except NotYet as pause:
        return Attempt(_put_off(database, lease, pause))
    except Exception as error:  # noqa: BLE001  # The edge of a job: whatever it raises is its outcome.
        is_final = isinstance(error, Never)
        text = str(error) if is_final else f"{type(error).__name__}: {error}"
        return Attempt(_failed(lease, means, kind, text, is_final=is_final), text)
    return Attempt(Outcome.DONE, following=following)


def _write_once(
    database: Database, lease: Lease, writer: Writer, take_next: TakeNext
) -> Lease | None:
    with database.write() as session:
        writer(session)
        if not jobs.finish(session, lease):
            raise _LeaseLostError
        return take_next(session)


def _put_off(database: Database, lease: Lease, pause: NotYet) -> Outcome:
    with database.write() as session:
        held = jobs.give_back(session, lease, error=None, delay_s=pause.delay_s, counts=False)
    return Outcome.PUT_OFF if held else Outcome.LOST


def _left_to_others(database: Database, lease: Lease) -> Attempt:
    # Another version of offdiag has asked for it; while programs are replaced both may run.
    text = f"no worker that looked at it knows work of the kind {lease.task!r}."
    with database.write() as session:
        held = jobs.give_back(session, lease, error=text, delay_s=_LOOK_FOR_OTHERS_S, counts=False)
    return Attempt(Outcome.PUT_OFF if held else Outcome.LOST, text)


def _wait_for_room(database: Database, lease: Lease) -> None:
    # Giving back changes a row and adds none, which a full disk mostly allows.
    with suppress(DatabaseUnavailable), database.write() as session:
        jobs.give_back(session, lease, error=None, delay_s=_LOOK_FOR_ROOM_S, counts=False)


def _failed(lease: Lease, means: Means, kind: TaskKind, text: str, *, is_final: bool) -> Outcome:
    policy = means.policy
    with means.database.write() as session:
        if lease.attempts < policy.max_attempts and not is_final:
            delay_s = policy.delay_s(lease.attempts) * kind.patience
            held = jobs.give_back(session, lease, error=text, delay_s=delay_s)
            return Outcome.GIVEN_BACK if held else Outcome.LOST
        if not jobs.bury(session, lease, error=text):
            return Outcome.LOST
        kind.give_up(session, lease.args, text)
        return Outcome.BURIED
