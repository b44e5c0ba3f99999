"""Keeping leases alive while work is done, and noticing when that is no longer possible."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.store import work
from offdiag.store.database import Database
from offdiag.store.work import Lease

_EXTEND_AFTER = 1 / 3
_ABANDON_AFTER = 2 / 3
_LOOK_EVERY = 1 / 12


class LeaseKeeper:
    """Extends the leases held in this process, from a thread of its own.

    A query on a frozen connection hangs without limit and no server can tell us, so a second
    thread watches the first: when a lease could not be extended for two thirds of its length,
    `on_lost` is called, which in a worker process ends the process.
    """

    def __init__(
        self, database: Database, *, lease_s: float, on_lost: Callable[[Lease], None] | None = None
    ) -> None:
        self.lease_s = lease_s
        self._database = database
        self._on_lost = on_lost
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._held: dict[str, tuple[Lease, float]] = {}
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
    def hold(self, lease: Lease) -> Iterator[None]:
        """Keep a lease alive for as long as the block runs."""
        with self._lock:
            self._held[lease.token] = (lease, time.monotonic())
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease.token, None)

    def give_back_all(self) -> tuple[Lease, ...]:
        """Put back what is held, for others to take at once; that was no attempt.

        What the work comes to in this process is then written nowhere. Returns what was put
        back. Raises `DatabaseUnavailable`: then the leases run out by themselves.
        """
        returned = []
        for lease in self._older_than(0.0):
            with self._database.write() as session:
                if work.give_back(session, lease, error=None, delay_s=0.0, counts=False):
                    returned.append(lease)
            with self._lock:
                self._held.pop(lease.token, None)
        return tuple(returned)

    def _repeat(self, step: Callable[[], None]) -> None:
        while not self._stopped.wait(self.lease_s * _LOOK_EVERY):
            step()

    def _older_than(self, share: float) -> list[Lease]:
        limit = time.monotonic() - share * self.lease_s
        with self._lock:
            return [lease for lease, extended in self._held.values() if extended < limit]

    def _extend_all(self) -> None:
        for lease in self._older_than(_EXTEND_AFTER):
            try:
                with self._database.write() as session:
                    held = work.extend(session, lease, lease_s=self.lease_s)
            except (DatabaseUnavailable, SchemaMismatch):
                continue  # The watch decides when that has lasted too long.
            with self._lock:
                if held and lease.token in self._held:
                    self._held[lease.token] = (lease, time.monotonic())

    def _watch(self) -> None:
        for lease in self._older_than(_ABANDON_AFTER):
            if self._on_lost is not None:
                self._on_lost(lease)
