"""Many processes log into one SQLite file, some of them for long: they wait, and nobody fails.

`make storm` lets them do so for minutes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from offdiag.cli.operate.doctor import examine
from offdiag.services.health import registry_metrics
from offdiag.services.verification.verify import read_ledger, verify
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.health import LONG_LOG_BYTES, log_bytes
from offdiag.store.models import RunRow
from support.contents import count_rows
from support.crowds import crowd, reading_for_long
from support.logging_runs import log

MIB = 1 << 20


@pytest.mark.processes
def test_many_writers_and_a_long_lock_and_nobody_is_refused(
    sqlite_database: Database, tmp_path: Path
) -> None:
    # SQLite gives turns by chance, so how long the unluckiest waits depends on the machine too.
    found = crowd(sqlite_database, tmp_path / "ledger", n_writers=6, seconds=0.5, locked_s=1.0)

    assert found.refused == 0
    assert found.acknowledged >= 6
    assert count_rows(sqlite_database, RunRow) == found.acknowledged
    entries = read_ledger(tmp_path / "ledger")
    assert len(entries) == found.acknowledged
    assert verify(sqlite_database, ledger=entries).is_clean


def fill_the_log(database: Database) -> None:
    """Write more than the log may hold before somebody is told."""
    with database.write() as session:
        session.execute(text("CREATE TABLE IF NOT EXISTS filling (bytes BLOB)"))
    for _ in range(LONG_LOG_BYTES // (8 * MIB) + 1):
        with database.write() as session:
            session.execute(text(f"INSERT INTO filling VALUES (zeroblob({8 * MIB}))"))
            session.execute(text("DELETE FROM filling"))


def said_of_the_log(database: Database) -> list[str]:
    settings = Settings.model_validate({"database": {"url": database.url}})
    return [found.text for found in examine(settings) if found.name == "log"]


def test_a_reader_who_keeps_the_log_from_being_emptied_is_noticed_until_it_is_gone(
    sqlite_database: Database,
) -> None:
    log(sqlite_database)
    assert said_of_the_log(sqlite_database) == []

    with reading_for_long(sqlite_database):
        fill_the_log(sqlite_database)
        length = log_bytes(sqlite_database) or 0
        told = said_of_the_log(sqlite_database)
        measured = registry_metrics(sqlite_database).log_bytes

    assert length > LONG_LOG_BYTES
    assert measured == length
    assert told == [f"the write-ahead log has {length / MIB:.0f} MiB and cannot be emptied."]
    # The first commit moves everything into the file, the next starts the log anew.
    for _ in range(3):
        log(sqlite_database)

    assert (log_bytes(sqlite_database) or 0) < LONG_LOG_BYTES
    assert said_of_the_log(sqlite_database) == []


def test_a_server_has_no_such_log(postgres_database: Database) -> None:
    assert registry_metrics(postgres_database).log_bytes is None
