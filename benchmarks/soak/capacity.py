"""How much can be done at all, with everybody asking without pauses for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from load.ledger_balance import wait_for_results
from offdiag.store.database import Database
from soak.crowd import Crowd, Visitors
from soak.responses import answered

READERS = "reader-*"
_BEGUN_WITHIN_S = 300.0
_EVALUATED_WITHIN_S = 600.0
_LOOK_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Rates:
    """Runs that are logged and evaluated, and pages that are read beside that, in a second."""

    runs_per_s: float
    pages_per_s: float


def measure_capacity(visitors: Visitors, database: Database, *, seconds: float) -> Rates:
    """Let everybody ask for the next thing as soon as the last is done.

    The time counts from when every client has logged a run until all runs are evaluated, so
    that workers who fall behind are part of what is measured.
    """
    crowd = Crowd(visitors, "capacity", runs_pause_s=0.0, pages_pause_s=0.0)
    try:
        _wait_for(lambda: _begun(visitors.folder) == visitors.n_clients)
        began, runs, pages = time.monotonic(), n_logged(visitors.folder), n_read(visitors.folder)
        time.sleep(seconds)
        # On a machine with no time for it, a short while may pass without any.
        _wait_for(lambda: n_logged(visitors.folder) > runs and n_read(visitors.folder) > pages)
        pages_per_s = (n_read(visitors.folder) - pages) / (time.monotonic() - began)
        crowd.end()
        if crowd.failures:
            raise RuntimeError(f"the capacity could not be measured: {crowd.failures}")
    finally:
        crowd.kill_all()
    runs = n_logged(visitors.folder) - runs
    wait_for_results(database, _EVALUATED_WITHIN_S)
    return Rates(runs / (time.monotonic() - began), pages_per_s)


def n_logged(folder: Path) -> int:
    """Runs that were acknowledged so far."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.ledger"))


def n_read(folder: Path) -> int:
    """Pages that were answered so far."""
    return answered(folder, READERS).statuses.get(200, 0)


def _begun(folder: Path) -> int:
    return sum(path.stat().st_size > 0 for path in folder.glob("*.ledger"))


def _wait_for(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + _BEGUN_WITHIN_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise RuntimeError("clients did not begin to log")
        time.sleep(_LOOK_EVERY_S)
