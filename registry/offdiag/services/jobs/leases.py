"""Keeping the leases of jobs alive while they run, and noticing when that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.jobs.attempts import MOST_LOSSES
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.jobs import Lease

_EXTEND_AFTER = 1 / 3
_ABANDON_AFTER = 2 / 3
_LOOK_EVERY = 1 / 12


@dataclass(frozen=True, slots=True)
class Lost:
    """A lease that can no longer be kept, and why."""

    lease: Lease
    reason: str


@dataclass(frozen=True, slots=True)
class _Held:
    """A held lease, when this process last extended it, and the `problem` if it failed since."""

    lease: Lease
    extended_at: float
    always_counts: bool
    problem: str | None = None


class LeaseKeeper:
    """Extends the leases held in this process, in a thread of its own.

    A query on a frozen connection hangs without limit and the server cannot report it, so a second
    thread watches the first: when a lease could not be extended for two thirds of its length,
    `on_lost` is called, which in a worker process ends the process. Before that it reports all
    leases as lost, and waits for the database at most as long as a lease lasts.
    """

    def __init__(
        self, database: Database, *, lease_s: float, on_lost: Callable[[Lost], None] | None = None
    ) -> None:
        self.lease_s = lease_s
        self._database = database
        self._on_lost = on_lost
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._unreported: list[Lease] = []
        self._extending_since: float | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        loops = [self._extend_all] if self._on_lost is None else [self._extend_all, self._watch]
        for loop in loops:
            thread = threading.Thread(
                target=self._repeat, args=(loop,), name=loop.__name__.strip("_"), daemon=True
            )
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def hold(self, lease: Lease, *, always_counts: bool = False) -> Iterator[None]:
        """Keep a lease alive while the block runs.

        With `always_counts`, losing it counts as an attempt even without an error.
        """
        with self._lock:
            self._held[lease.token] = _Held(lease, time.monotonic(), always_counts)
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease.token, None)

    def report_loss(self, lease: Lease) -> str | None:
        """Report that a held lease was lost, or will be, although the work itself raised no error.

        It does not count as an attempt. If the database is unavailable, the report is made once it
        is back. Returns why the lease was lost, None if it is no longer held.
        """
        with self._lock:
            held = self._held.pop(lease.token, None)
            if held is not None and not held.always_counts:
                self._unreported.append(lease)
        self._report_losses()
        return None if held is None else self._reason(held)

    def release_all(self) -> tuple[Lease, ...]:
        """Release all held leases, so that others can take the jobs; this is not an attempt.

        Results that this process still computes are then not written. Returns the released leases.
        Raises `DatabaseUnavailable`: then the leases expire by themselves.
        """
        returned = []
        for held in self._older_than(0.0):
            lease = held.lease
            with self._database.write() as session:
                is_back = jobs.release(session, lease, error=None, delay_s=0.0, counts=False)
            if is_back:
                returned.append(lease)
                with self._lock:
                    self._held.pop(lease.token, None)
            else:
                self.report_loss(lease)
        return tuple(returned)

    def _repeat(self, step: Callable[[], None]) -> None:
        while not self._stopped.wait(self.lease_s * _LOOK_EVERY):
            step()

    def _older_than(self, share: float) -> list[_Held]:
        limit = time.monotonic() - share * self.lease_s
        with self._lock:
            return [held for held in self._held.values() if held.extended_at < limit]

    def _extend_all(self) -> None:
        self._report_losses()
        for held in self._older_than(_EXTEND_AFTER):
            extended = self._extended(held)
            with self._lock:
                if held.lease.token in self._held:
                    self._held[held.lease.token] = extended

    def _extended(self, held: _Held) -> _Held:
        # The lease runs from the moment of the statement, not from that of the answer.
        began = self._extending_since = time.monotonic()
        try:
            with self._database.write() as session:
                is_ours = jobs.extend(session, held.lease, lease_s=self.lease_s)
        except (DatabaseUnavailable, SchemaMismatch) as error:
            return replace(held, problem=str(error))  # The watch decides when that is too long.
        finally:
            self._extending_since = None
        if not is_ours:
            return replace(held, problem="it had run out, and the work was taken by others.")
        return replace(held, extended_at=began, problem=None)

    def _watch(self) -> None:
        lost = [Lost(each.lease, self._reason(each)) for each in self._older_than(_ABANDON_AFTER)]
        if self._on_lost is None or not lost:
            return
        # Reporting may hang just like the attempt to extend the lease.
        telling = threading.Thread(target=self._report_all_losses, name="let go", daemon=True)
        telling.start()
        telling.join(self.lease_s)
        for each in lost:
            self._on_lost(each)

    def _reason(self, held: _Held) -> str:
        now, since = time.monotonic(), self._extending_since
        if held.problem is not None:
            why = held.problem
        elif since is not None:
            why = f"the database has not answered for {now - since:.1f} s."
        else:
            why = "the machine gave this process no time to."
        return f"not extended for {now - held.extended_at:.1f} of {self.lease_s:g} s: {why}"

    def _report_all_losses(self) -> None:
        while not self._stopped.is_set():
            for held in self._older_than(0.0):
                self.report_loss(held.lease)
            self._report_losses()
            with self._lock:
                if not (self._unreported or self._held):
                    return
            time.sleep(self.lease_s * _LOOK_EVERY)

    def _report_losses(self) -> None:
        while True:
            with self._lock:
                if not self._unreported:
                    return
                lease = self._unreported.pop()
            try:
                with self._database.write() as session:
                    jobs.report_loss(session, lease, most_losses=MOST_LOSSES)
            except (DatabaseUnavailable, SchemaMismatch):
                with self._lock:
                    self._unreported.append(lease)
                return
