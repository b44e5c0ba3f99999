"""The schema at the head as files in git, so that a review shows what a migration changes.

After adding a revision, write them anew:

    cd tests && python -m support.schema_snapshot
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.postgres import running_server
from support.schema_text import schema_text

FOLDER = Path(__file__).parents[1] / "migrations" / "schema"
COMMAND = "cd tests && python -m support.schema_snapshot"


def snapshot_file(dialect: str) -> Path:
    return FOLDER / f"{dialect}.sql"


def _write(url: str) -> None:
    database = Database(url)
    upgrade(database)
    with database.read() as session:
        snapshot_file(database.dialect).write_text(schema_text(session.connection()))
    database.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write(f"sqlite:///{folder}/registry.db")
    with running_server() as server:
        _write(server.create("snapshot"))


if __name__ == "__main__":
    main()
