"""Many processes that log into one SQLite file at once, beside one that reads for long."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sqlalchemy import text

from offdiag.store.database import Database
from support.ledgers import Client
from support.quick_starts import forked

_LOOK_EVERY_S = 0.05


@dataclass(frozen=True)
class Crowd:
    """What the writers saw, and how far the write-ahead log grew meanwhile."""

    acknowledged: int
    refused: int
    slowest_s: float
    longest_log_bytes: int


def crowd(
    database: Database, ledger: Path, *, n_writers: int, seconds: float, locked_s: float
) -> Crowd:
    """Let processes log until time is up, while somebody keeps the file locked for a while.

    Each has a connection of its own with the settings that `offdiag` has.
    """
    assert database.path is not None
    log = database.path.with_name(database.path.name + "-wal")
    reports = [ledger.with_name(f"writer-{number}") for number in range(n_writers)]
    writers = [
        forked(_write, database.url, str(ledger), str(report), number, seconds)
        for number, report in enumerate(reports)
    ]
    longest = 0
    time.sleep(min(seconds / 3, 5))
    with database.write():
        time.sleep(locked_s)
    while any(writer.poll() is None for writer in writers):
        longest = max(longest, log.stat().st_size if log.exists() else 0)
        time.sleep(_LOOK_EVERY_S)
    exit_codes = [writer.returncode for writer in writers]
    assert exit_codes == [0] * n_writers, exit_codes
    seen = [json.loads(report.read_text()) for report in reports]
    return Crowd(
        acknowledged=sum(each["acknowledged"] for each in seen),
        refused=sum(each["refused"] for each in seen),
        slowest_s=max(each["slowest_s"] for each in seen),
        longest_log_bytes=longest,
    )


@contextmanager
def reading_for_long(database: Database) -> Iterator[None]:
    """Somebody has a page open, so to speak, whose snapshot keeps the log from being emptied."""
    with database.read() as session:
        session.execute(text("SELECT count(*) FROM run")).scalar()
        yield


def _write(url: str, ledger: str, report: str, number: int, seconds: float) -> None:
    database = Database(url)
    client = Client(database, Path(ledger), Random(number), name=f"writer-{number}")
    slowest = 0.0
    until = time.monotonic() + seconds
    # The first one waits for libraries too, which are loaded on first use.
    client.log(0)
    while (began := time.monotonic()) < until:
        client.log(client.n_acknowledged)
        slowest = max(slowest, time.monotonic() - began)
    Path(report).write_text(
        json.dumps(
            {
                "acknowledged": client.n_acknowledged,
                "refused": client.n_refused,
                "slowest_s": slowest,
            }
        )
    )
    database.close()
