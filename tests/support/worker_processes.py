"""Real worker processes that start in a moment, so that many of them can be killed in a test.

From where its libraries are loaded it does what `offdiag worker` does, in a process of its own,
and can be killed as one.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database, Session
from offdiag.store.models import EvaluationRow
from support.contents import count_rows
from support.quick_starts import QuickProcess, forked_into

_LOOK_EVERY_S = 0.05


@dataclass
class Workers:
    """A few workers; those that are supervised are started again when they end.

    What they log goes to one file.
    """

    url: str
    log: Path
    lease_s: float
    poison: str | None
    supervised: bool
    engine: str = "local"
    living: list[QuickProcess] = field(default_factory=list)
    n_started: int = 0

    def start(self) -> None:
        """Add one more worker."""
        self.living.append(
            forked_into(self.log, _work, self.url, self.lease_s, self.poison, self.engine)
        )
        self.n_started += 1

    def wait_until_ready(self) -> None:
        """Wait until each has said that it works. Before, a signal to stop simply ends it."""
        wait_until(lambda: self.said().count("event=worker_started") >= self.n_started, self)

    def kill_one(self, random: Random) -> None:
        """SIGKILL for one of them."""
        self.living.pop(random.randrange(len(self.living))).end()

    def stall_one(self, random: Random, seconds: float) -> None:
        """Let one of them stand still for a while, as where a machine leaves it no time."""
        process = random.choice(self.living)
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def look_after(self) -> None:
        """Start one for each that is no longer there, if they are supervised."""
        if not self.supervised:
            return
        alive = [each for each in self.living if each.poll() is None]
        n_dead = len(self.living) - len(alive)
        self.living[:] = alive
        for _ in range(n_dead):
            self.start()

    def ended(self) -> list[int]:
        """Exit codes of those that ended by themselves, which none should."""
        return [code for each in self.living if (code := each.poll()) is not None]

    def said(self) -> str:
        """Everything the workers have logged."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def end(self) -> None:
        while self.living:
            self.living.pop().end()


@contextmanager
def workers(
    url: str,
    log: Path,
    *,
    number: int,
    lease_s: float,
    poison: str | None = None,
    supervised: bool = False,
    engine: str = "local",
) -> Iterator[Workers]:
    """So many workers on a database; none outlives the block.

    Evaluating the run with the id `poison` kills the worker that does it.
    """
    crew = Workers(url, log, lease_s, poison, supervised, engine)
    try:
        for _ in range(number):
            crew.start()
        yield crew
    finally:
        crew.end()


def wait_until(condition: Callable[[], bool], crew: Workers, *, timeout_s: float = 120) -> None:
    """Wait for something the workers bring about; fails with their log when it does not come."""
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, f"it did not happen in time\n{crew.said()}"
        crew.look_after()
        time.sleep(_LOOK_EVERY_S)


def wait_for_results(
    database: Database, crew: Workers, number: int, *, timeout_s: float = 120
) -> None:
    """Wait until at least so many evaluations are there."""
    wait_until(lambda: count_rows(database, EvaluationRow) >= number, crew, timeout_s=timeout_s)


def _work(url: str, lease_s: float, poison: str | None, engine: str) -> None:
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import work_until_signal

    if poison is not None:
        _poisoned_by(poison)
    log_to_stderr()
    os.environ["OFFDIAG_JOBS__ENGINE"] = engine
    database = Database(url, synchronous="normal")
    work_until_signal(database, Settings(jobs=JobsSettings(lease_s=lease_s, engine=engine)))
    database.close()


def _poisoned_by(run_id: str) -> None:
    from offdiag.services.jobs.kinds import TASKS

    kind = TASKS["evaluate"]

    def compute(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
        if args["run"] == run_id:
            os.write(1, b"poisoned\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return kind.compute(database, args)

    assert isinstance(TASKS, dict)
    TASKS["evaluate"] = replace(kind, compute=compute)
