"""The worker: does due work, a few pieces at a time, until it is told to stop."""

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
    """Who logs the attempts of a worker of this engine: a line for each.

    Beside what came of it the line names the work and what it is about (`run`, `issue` for
    an edition of a report, or `delivery`), and as `request_id` the request that asked for it.
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
    """Listen in a thread of its own while the block runs, where there is anything to hear."""
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
    """Release what the block still holds `drain_s` seconds after `stop`.

    A computation cannot be interrupted, only made void: its lease is gone, so it writes
    nothing. `on_released` is called then, from another thread; in a process of its own it
    ends the process.
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
"""How long a stop may go unnoticed while the loop waits for the notifier."""
_LOOK_S = 1.0
"""Between two looks for work while nothing tells of any."""
_LONG_S = 1.0
"""Seconds after which what a slot does is taken for long, so that small work gets a way past."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one worker did from start to stop."""

    done: int
    failed: int

    @classmethod
    def of(cls, outcomes: Mapping[Outcome, int]) -> WorkerReport:
        """Counted from what came of each attempt."""
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

    Of several slots one is for small work alone, so that a huge run keeps nobody waiting. A
    job that was begun is ended before the loop returns, unless that takes longer
    than `jobs.shutdown_timeout_s`: then it is released, and `on_released` is called from another
    thread. An unreachable database is waited for. `on_lost` is called from another thread when
    a lease can no longer be kept.
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
    """A thread's share in the work; `since` is when it began what it does, None while idle."""

    def __init__(self) -> None:
        self.since: float | None = None

    def is_at_something_long(self) -> bool:
        since = self.since
        return since is not None and time.monotonic() - since > _LONG_S


class _Crew:
    """The slots of one worker: some for anything, and the last of several for small work."""

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
            # The first slot comes upon the same, and ends the worker over it.
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
        """Do what there is to do. Whether that was nothing."""
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
        """Wait for a notification or a commit; now and then, work is due by the time alone."""
        poll_s = self._jobs.poll_ms / 1000
        wait_s = max(_LOOK_S, poll_s)
        # SQLite tells nobody about commits of other processes, so it is asked often.
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
