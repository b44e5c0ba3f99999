"""Worker processes for which some runs take as long as they like, to see what others wait for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database, Session, utc_now
from support.hosts import Host
from support.quick_starts import QuickProcess, forked_into

SLOWLY = "slow"
"""How the client key of a run begins whose evaluation takes until the worker ends."""
BEGUN = "it has begun a slow one\n"
"""What it logs then. Before, it may not have heard that the work is its own."""
_PATIENCE_S = 240


@contextmanager
def slow_worker(
    url: str,
    log: Path,
    jobs: JobsSettings,
    *,
    host: Host | None = None,
    is_slow: bool = True,
    ahead: timedelta = timedelta(0),
) -> Iterator[QuickProcess]:
    """One worker that never ends the evaluation of a slow run; it does not outlive the block.

    It may live on another host, whose clock may be `ahead`, and be as quick as others.
    """
    process = forked_into(log, _work, url, jobs, host, is_slow, ahead)
    try:
        yield process
    finally:
        process.end()


def wait_until(is_so: Callable[[], bool], log_file: Path) -> None:
    """Wait for something; fails with what was logged when it does not come."""
    give_up_at = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < give_up_at, log_file.read_text()
        time.sleep(0.05)


def _work(
    url: str, jobs: JobsSettings, host: Host | None, is_slow: bool, ahead: timedelta
) -> None:
    if host is not None:
        host.move_in()
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import work_until_signal

    if is_slow:
        _slow_down()
    log_to_stderr()
    os.environ["OFFDIAG_JOBS__ENGINE"] = jobs.engine
    os.environ["OFFDIAG_JOBS__CONCURRENCY"] = str(jobs.concurrency)
    database = Database(url, synchronous="normal", clock=lambda: utc_now() + ahead)
    work_until_signal(database, Settings(jobs=jobs))
    database.close()


def _slow_down() -> None:
    from offdiag.services.jobs.kinds import TASKS
    from offdiag.store.runs import get_run

    kind = TASKS["evaluate"]

    def compute(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
        with database.read() as session:
            key = get_run(session, args["run"]).client_key or ""
        if key.startswith(SLOWLY):
            os.write(1, BEGUN.encode())
        while key.startswith(SLOWLY):
            time.sleep(0.1)
        return kind.compute(database, args)

    assert isinstance(TASKS, dict)
    TASKS["evaluate"] = replace(kind, compute=compute)
