"""A worker process that learns of work by a notification or by looking, and in no other way."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from support.quick_starts import QuickProcess, forked


@contextmanager
def listening_worker(url: str, log: Path, jobs: JobsSettings) -> Iterator[QuickProcess]:
    """One worker, without the sweep that others have beside it; it does not outlive the block."""
    process = forked(_work, url, str(log), jobs)
    try:
        yield process
    finally:
        process.end()


def _work(url: str, log: str, jobs: JobsSettings) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    from offdiag.logs import log_to_stderr
    from offdiag_workers.loop import run_worker

    log_to_stderr()
    run_worker(Database(url), jobs, stop=threading.Event())
