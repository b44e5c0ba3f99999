"""Doing one piece of work, with the effect of exactly once.

The lease is taken in a first transaction, which also counts the attempt. The result is
computed outside any transaction that writes. A last transaction writes the result and deletes
the work, and only if the lease is still held: a worker that was thought dead and comes back
late writes nothing.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.services.work.endings import Never, NotYet
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.tasks import TASKS, TaskKind, Writer
from offdiag.store import free_work, work
from offdiag.store.database import Database
from offdiag.store.racing import after_failures
from offdiag.store.work import Lease

_LOOK_FOR_ROOM_S = 10.0
"""Seconds until work that found the disk full is tried again."""
_LOOK_FOR_OTHERS_S = 30.0
"""Seconds until work of an unknown kind is looked at again."""


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    TAKEN = "taken"
    """Somebody else holds the work, or it was done already."""
    GIVEN_BACK = "given_back"
    """It failed and will be tried again."""
    BURIED = "buried"
    """It failed for the last time."""
    PUT_OFF = "put_off"
    """It came too early and will be looked at again; that was no attempt."""
    LOST = "lost"
    """The lease ran out while computing; nothing was written."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often work is tried, and the seconds between attempts (doubled each time)."""

    max_attempts: int = 5
    first_delay_s: float = 1.0

    def delay_s(self, attempts: int) -> float:
        """Seconds to wait after this many attempts."""
        return float(self.first_delay_s * 2 ** (attempts - 1))


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that came to its end. `error` is what it failed with."""

    lease: Lease
    outcome: Outcome
    duration_s: float
    error: str | None = None


def nobody(_ended: Ended) -> None:
    """Who is told of attempts where nobody asked to be."""


class _LeaseLostError(Exception):
    """Rolls back a result whose lease is gone."""


def perform_next(
    database: Database,
    keeper: LeaseKeeper,
    policy: RetryPolicy,
    tasks: Mapping[str, TaskKind] = TASKS,
    choose: Callable[[Sequence[int | None]], int | None] = random.choice,
    *,
    at_most: int | None = None,
    tell: Callable[[Ended], None] = nobody,
) -> Outcome | None:
    """Do the work of some project that has waited longest. None when nothing is due.

    Each project that waits is as likely to be worked for, however much it has asked for, so
    that ten thousand runs of one do not keep one run of another waiting. Work larger than
    `at_most` is left to others; the attempt is told to `tell`.
    """
    with database.read() as session:
        waiting = free_work.next_of_each_project(
            session, max_attempts=policy.max_attempts, at_most=at_most
        )
    if not waiting:
        return None
    work_id = waiting[choose(list(waiting))]
    return perform(database, work_id, keeper, policy, tasks, at_most=at_most, tell=tell)


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
    with database.write() as session:
        lease = free_work.claim(
            session,
            work_id,
            token=secrets.token_hex(8),
            lease_s=keeper.lease_s,
            max_attempts=policy.max_attempts,
            at_most=at_most,
        )
    if lease is None:
        return Outcome.TAKEN
    began = time.monotonic()
    kind = tasks.get(lease.task)
    with keeper.hold(lease):
        outcome, error = (
            _left_to_others(database, lease)
            if kind is None
            else _attempt(database, lease, policy, kind)
        )
    tell(Ended(lease, outcome, time.monotonic() - began, error))
    return outcome


def _attempt(
    database: Database, lease: Lease, policy: RetryPolicy, kind: TaskKind
) -> tuple[Outcome, str | None]:
    try:
        writer = kind.compute(database, lease.args)
        after_failures(lambda: _write_once(database, lease, writer))
    except _LeaseLostError:
        return Outcome.LOST, None
    except StorageFull:
        if not kind.reaches_out:
            _wait_for_room(database, lease)
        raise
    except DatabaseUnavailable:
        raise
    except NotYet as pause:
        return _put_off(database, lease, pause), None
    except Exception as error:  # noqa: BLE001  # The edge of a job: whatever it raises is its outcome.
        is_final = isinstance(error, Never)
        text = str(error) if is_final else f"{type(error).__name__}: {error}"
        return _failed(database, lease, kind, policy, text, is_final=is_final), text
    return Outcome.DONE, None


def _write_once(database: Database, lease: Lease, writer: Writer) -> None:
    with database.write() as session:
        writer(session)
        if not work.finish(session, lease):
            raise _LeaseLostError


def _put_off(database: Database, lease: Lease, pause: NotYet) -> Outcome:
    with database.write() as session:
        held = work.give_back(session, lease, error=None, delay_s=pause.delay_s, counts=False)
    return Outcome.PUT_OFF if held else Outcome.LOST


def _left_to_others(database: Database, lease: Lease) -> tuple[Outcome, str]:
    # Another version of offdiag has asked for it; while programs are replaced both may run.
    text = f"no worker that looked at it knows work of the kind {lease.task!r}."
    with database.write() as session:
        held = work.give_back(session, lease, error=text, delay_s=_LOOK_FOR_OTHERS_S, counts=False)
    return (Outcome.PUT_OFF if held else Outcome.LOST), text


def _wait_for_room(database: Database, lease: Lease) -> None:
    # Giving back changes a row and adds none, which a full disk mostly allows.
    with suppress(DatabaseUnavailable), database.write() as session:
        work.give_back(session, lease, error=None, delay_s=_LOOK_FOR_ROOM_S, counts=False)


def _failed(
    database: Database,
    lease: Lease,
    kind: TaskKind,
    policy: RetryPolicy,
    text: str,
    *,
    is_final: bool,
) -> Outcome:
    with database.write() as session:
        if lease.attempts < policy.max_attempts and not is_final:
            delay_s = policy.delay_s(lease.attempts) * kind.patience
            held = work.give_back(session, lease, error=text, delay_s=delay_s)
            return Outcome.GIVEN_BACK if held else Outcome.LOST
        if not work.bury(session, lease, error=text):
            return Outcome.LOST
        kind.give_up(session, lease.args, text)
        return Outcome.BURIED
