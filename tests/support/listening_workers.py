"""A worker process that learns of work by a notification or by looking, and in no other way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from support.quick_starts import QuickProcess, forked_into


@contextmanager
def listening_worker(url: str, log: Path, jobs: JobsSettings) -> Iterator[QuickProcess]:
    """One worker, without the sweep that others have beside it; it does not outlive the block."""
    process = forked_into(log, _work, url, jobs)
    try:
        yield process
    finally:
        process.end()


def _work(url: str, jobs: JobsSettings) -> None:
    from offdiag.logs import log_to_stderr
    from offdiag_workers.loop import run_worker

    log_to_stderr()
    run_worker(Database(url), jobs, stop=threading.Event())
