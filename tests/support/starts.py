"""When workers start what they are asked for: after a commit, after a kill, and how much a second.

The work is done by real worker processes whose evaluation only notes that it was started, by
a clock that all processes of a machine share.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offdiag.services.jobs.submit import LOCAL_NOTIFIER
from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store import jobs
from offdiag.store.database import Database, Session
from offdiag.store.jobs import JobRequest
from offdiag.store.models import WorkRow
from support.contents import count_rows
from support.quick_starts import QuickProcess, forked_into

HANGS = "hangs"
_PATIENCE_S = 600.0


@dataclass(frozen=True)
class Start:
    """That a process began a piece of work, in seconds of the monotonic clock."""

    at: float
    name: str
    pid: int


@contextmanager
def noting_workers(
    database: Database, notes: Path, *, number: int = 1, lease_s: float = 30.0
) -> Iterator[list[QuickProcess]]:
    """Workers that note each start and do nothing; the first that is to do `HANGS` hangs."""
    silence = Path(os.devnull)
    living = [
        forked_into(silence, _work, database.url, str(notes), lease_s) for _ in range(number)
    ]
    try:
        yield living
    finally:
        for process in living:
            process.end()


def ask(database: Database, *names: str) -> float:
    """Ask for work under these names; returns the moment after the commit."""
    with database.write() as session:
        asked = jobs.insert_many_pending(
            session, "evaluate", [JobRequest(name, {"run": name}) for name in names]
        )
        LOCAL_NOTIFIER.notify(session, asked)
    return time.monotonic()


def starts(notes: Path) -> list[Start]:
    """Everything that was noted so far, in order."""
    lines = notes.read_text().splitlines() if notes.exists() else []
    found = (line.split() for line in lines)
    return [Start(float(at), name, int(pid)) for at, name, pid in found]


def wait_for_starts(notes: Path, number: int) -> list[Start]:
    """Wait until so many starts are noted."""
    give_up_at = time.monotonic() + _PATIENCE_S
    while len(found := starts(notes)) < number:
        assert time.monotonic() < give_up_at, f"{len(found)} of {number} starts"
        time.sleep(0.005)
    return found


def delays_after_commits(database: Database, notes: Path, *, number: int) -> list[float]:
    """Seconds from each of so many commits to the start of its work by an idle worker."""
    asked: dict[str, float] = {}
    with noting_workers(database, notes):
        ask(database, "warm-up")
        wait_for_starts(notes, 1)
        for each in range(number):
            # Anywhere between two looks of a worker that looks now and then.
            time.sleep(0.05 + 0.017 * (each % 7))
            asked[f"w{each}"] = ask(database, f"w{each}")
            found = wait_for_starts(notes, each + 2)
    return [start.at - asked[start.name] for start in found if start.name in asked]


def rate_of_one_worker(database: Database, notes: Path, *, number: int) -> float:
    """Pieces of work a second that one worker process begins and ends."""
    ask(database, *(f"w{each}" for each in range(number)))
    give_up_at = time.monotonic() + _PATIENCE_S
    with noting_workers(database, notes):
        while count_rows(database, WorkRow):
            assert time.monotonic() < give_up_at, "the queue does not get empty"
            time.sleep(0.25)  # Looking is work for the server, too.
    found = starts(notes)
    return (len(found) - 1) / (found[-1].at - found[0].at)


def delay_after_kill(database: Database, notes: Path, *, lease_s: float) -> float:
    """Seconds from the SIGKILL of a worker to the next start of the work it had begun."""
    with noting_workers(database, notes, number=2, lease_s=lease_s) as living:
        ask(database, HANGS)
        (first,) = wait_for_starts(notes, 1)
        (victim,) = (process for process in living if process.pid == first.pid)
        victim.kill()
        killed_at = time.monotonic()
        again = wait_for_starts(notes, 2)[1]
    assert again.pid != first.pid
    return again.at - killed_at


def _work(url: str, notes: str, lease_s: float) -> None:
    from offdiag.services.jobs.kinds import TASKS, TaskKind
    from offdiag_workers.process import work_until_signal

    noted = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def compute(_database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
        name = str(args["run"])
        is_first = name not in Path(notes).read_text() if name == HANGS else False
        os.write(noted, f"{time.monotonic()} {name} {os.getpid()}\n".encode())
        if is_first:
            threading.Event().wait()
        return lambda _session: None

    assert isinstance(TASKS, dict)
    TASKS["evaluate"] = TaskKind(compute, lambda _session, _args, _error: None)
    database = Database(url, synchronous="normal")
    work_until_signal(database, Settings(jobs=JobsSettings(lease_s=lease_s)))
