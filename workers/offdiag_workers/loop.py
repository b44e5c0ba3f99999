"""The worker loop: runs due jobs, a few at a time, until it is asked to stop."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import structlog

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.jobs.attempts import Ended, Outcome, RetryPolicy
from offdiag.services.jobs.kinds import TASKS, TaskKind
from offdiag.services.jobs.leases import LeaseKeeper, Lost
from offdiag.services.jobs.run_job import run_due_jobs, run_next_job
from offdiag.services.jobs.submit import CHANNEL, LOCAL_NOTIFIER
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.jobs import notifications
from offdiag_workers.heartbeat import beating

log = structlog.get_logger()

_FAILED = frozenset({Outcome.RELEASED, Outcome.FAILED, Outcome.LOST})


def attempt_logger(engine: str) -> Callable[[Ended], None]:
    """A function that logs each ended attempt of a worker of this engine, one line per attempt.

    Besides the outcome, the line names the work and what it is about (`run`, `issue` for an
    edition of a report, or `delivery`) and, as `request_id`, the request that asked for it.
    """

    def on_ended(ended: Ended) -> None:
        lease = ended.lease
        facts = {
            "work": lease.work_id,
            "task": lease.task,
            **lease.args,
            "attempt": lease.attempts,
            "engine": engine,
            "duration_s": round(ended.duration_s, 3),
        }
        if lease.request_id is not None:
            facts["request_id"] = lease.request_id
        if ended.outcome in _FAILED:
            log.warning("work_failed", outcome=ended.outcome.value, error=ended.error, **facts)
        elif ended.outcome is Outcome.DONE:
            log.info("work_done", **facts)
        else:
            log.debug("work_deferred", **facts)

    return on_ended


_WAIT_S = 1.0
_RECONNECT_S = 2.0


@contextmanager
def listening(database: Database, stop: threading.Event) -> Iterator[None]:
    """Listen for notifications in a thread while the block runs, if the database can send them."""
    if not database.can_listen:
        if database.dialect == "postgresql":
            log.info("listen_is_off", reason="a pooler lends connections by transaction")
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=_listen, args=(database, stop, ended), name="listener", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _listen(database: Database, stop: threading.Event, ended: threading.Event) -> None:
    while not (stop.is_set() or ended.is_set()):
        try:
            for heard in notifications(database, CHANNEL, timeout_s=_WAIT_S):
                if heard:
                    LOCAL_NOTIFIER.wake()
                if stop.is_set() or ended.is_set():
                    return
        except DatabaseUnavailable as error:
            log.warning("not_listening", error=str(error))
            ended.wait(_RECONNECT_S)


@contextmanager
def draining(
    keeper: LeaseKeeper,
    stop: threading.Event,
    *,
    drain_s: float,
    on_released: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Release the leases that the block still holds `drain_s` seconds after `stop` is set.

    A computation cannot be interrupted, only made void: without its lease it writes nothing. After
    the release `on_released` is called from another thread; in a process of its own it ends the
    process.
    """
    ended = threading.Event()

    def release() -> None:
        stop.wait()
        if ended.wait(drain_s):
            return
        try:
            for lease in keeper.release_all():
                log.warning("released_at_stop", work=lease.work_id, **lease.args)
        except (DatabaseUnavailable, SchemaMismatch) as error:
            log.warning("not_released", error=str(error))
        on_released()

    thread = threading.Thread(target=release, name="drain", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()


_DATABASE_RETRY_S = 1.0
_STOP_LOOK_S = 0.2
"""Longest time for which a stop goes unnoticed while the loop waits for the notifier."""
_LOOK_S = 1.0
"""Seconds between two looks for work while there is no notification."""
_LONG_S = 1.0
"""Seconds after which a slot counts as busy with long work, so that small work may overtake."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one worker did from start to stop."""

    done: int
    failed: int

    @classmethod
    def of(cls, outcomes: Mapping[Outcome, int]) -> WorkerReport:
        """The report for these numbers of attempts by outcome."""
        return cls(outcomes.get(Outcome.DONE, 0), sum(outcomes.get(each, 0) for each in _FAILED))


def run_worker(
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lost], None] | None = None,
    on_released: Callable[[], None] = lambda: None,
    until_idle: bool = False,
    tasks: Mapping[str, TaskKind] = TASKS,
) -> WorkerReport:
    """Work until `stop` is set, or until nothing is due if `until_idle`.

    If there are several slots, one is for small work alone, so that a huge run keeps no one
    waiting. A job that has begun is finished before the loop returns, unless that takes longer
    than `jobs.shutdown_timeout_s`: then it is released, and `on_released` is called from another
    thread. The loop waits for an unreachable database. `on_lost` is called from another thread
    when a lease can no longer be kept.
    """
    with (
        beating(database, "worker"),
        listening(database, stop),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
        draining(keeper, stop, drain_s=jobs.shutdown_timeout_s, on_released=on_released),
    ):
        crew = _Crew(database, jobs, keeper, stop, until_idle=until_idle, tasks=tasks)
        crew.work()
    return WorkerReport.of(crew.outcomes)


class _Slot:
    """The state of one thread; `since` is when its current work began, None while it is idle."""

    def __init__(self) -> None:
        self.since: float | None = None

    def is_at_something_long(self) -> bool:
        since = self.since
        return since is not None and time.monotonic() - since > _LONG_S


class _Crew:
    """The slots of one worker: all take any work, except the last of several: only small work."""

    def __init__(
        self,
        database: Database,
        jobs: JobsSettings,
        keeper: LeaseKeeper,
        stop: threading.Event,
        *,
        until_idle: bool,
        tasks: Mapping[str, TaskKind],
    ) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self._database = database
        self._jobs = jobs
        self._keeper = keeper
        self._stop = stop
        self._until_idle = until_idle
        self._tasks = tasks
        self._policy = RetryPolicy(max_attempts=jobs.max_attempts)
        self._tell = attempt_logger("local")
        self._slots = [_Slot() for _ in range(max(1, jobs.concurrency - 1))]
        self._over = threading.Event()
        self._lock = threading.Lock()

    def work(self) -> None:
        others = [self._beside(partial(self._do_anything, slot)) for slot in self._slots[1:]]
        if self._jobs.concurrency > 1:
            others.append(self._beside(self._do_small))
        for thread in others:
            thread.start()
        try:
            self._do_anything(self._slots[0])
        finally:
            self._over.set()
            for thread in others:
                thread.join()

    def _beside(self, loop: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            # The first slot gets the same error, and ends the worker with it.
            with suppress(SchemaMismatch):
                loop()

        return threading.Thread(target=run, name="slot", daemon=True)

    def _do_anything(self, slot: _Slot) -> None:
        heard = 0
        with self._database.watching() as others_committed:
            while not self._stop.is_set():
                slot.since = time.monotonic()
                is_idle = self._do(partial(self._due, slot))
                slot.since = None
                if is_idle:
                    if self._until_idle:
                        break
                    heard = self._rest(heard, others_committed)

    def _do_small(self) -> None:
        while not (self._stop.is_set() or self._over.is_set()):
            all_are_long = all(slot.is_at_something_long() for slot in self._slots)
            if not all_are_long or self._do(self._next_small):
                self._over.wait(_STOP_LOOK_S)

    def _due(self, slot: _Slot) -> Iterator[Outcome]:
        for outcome in run_due_jobs(
            self._database,
            self._keeper,
            self._policy,
            self._tasks,
            goes_on=lambda: not self._stop.is_set(),
            on_ended=self._tell,
        ):
            slot.since = time.monotonic()
            yield outcome

    def _next_small(self) -> Iterator[Outcome]:
        outcome = run_next_job(
            self._database,
            self._keeper,
            self._policy,
            self._tasks,
            at_most=self._jobs.small_job_values,
            on_ended=self._tell,
        )
        if outcome is not None:
            yield outcome

    def _do(self, work: Callable[[], Iterator[Outcome]]) -> bool:
        """Do the work there is; return whether there was none."""
        is_idle = True
        try:
            for outcome in work():
                is_idle = False
                with self._lock:
                    self.outcomes[outcome] += 1
        except DatabaseUnavailable as error:
            log.warning("database_unavailable", error=str(error))
            self._stop.wait(_DATABASE_RETRY_S)
            return False
        return is_idle

    def _rest(self, heard: int, others_committed: Callable[[], bool]) -> int:
        """Wait for a notification or a commit, but not for long: time alone makes work due."""
        poll_s = self._jobs.poll_ms / 1000
        wait_s = max(_LOOK_S, poll_s)
        # SQLite does not announce commits of other processes, so it is polled often.
        pause_s = poll_s if self._database.dialect == "sqlite" else wait_s
        give_up_at = time.monotonic() + wait_s
        notified = heard
        while notified == heard and not (self._stop.is_set() or others_committed()):
            left_s = give_up_at - time.monotonic()
            if left_s <= 0:
                break
            notified = _wait_for_notification(heard, self._stop, timeout_s=min(pause_s, left_s))
        return notified


def _wait_for_notification(heard: int, stop: threading.Event, *, timeout_s: float) -> int:
    give_up_at = time.monotonic() + timeout_s
    notified = heard
    while notified == heard and not stop.is_set():
        left_s = give_up_at - time.monotonic()
        if left_s <= 0:
            break
        notified = LOCAL_NOTIFIER.wait(heard, min(left_s, _STOP_LOOK_S))
    return notified
