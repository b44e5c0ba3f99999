"""Program: export, import or restore again and again, each time killed some steps later.

    python -m support.archive_killed_everywhere TASK REHEARSAL_URL URL ARCHIVE KILLS

A step is what changes the database or the archive: an SQL statement that does not only ask, a
commit, an entry of a zip, or what is done to a file beside the archive. They are counted on
another database that holds the same; then there are so many kills, each drawn from a part of the
way of its own. Ends with one line of JSON: a digest of what was there after each kill, and after
one that got through.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, make_url

import offdiag_migrations
from offdiag.errors import InvalidInput
from offdiag.services.retention.backups import restore
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.store import schema
from offdiag.store.archive.file import opened_archive
from offdiag.store.database import Database
from support.archives import held
from support.processes import in_a_child, say
from support.quick_engines import remember_statements
from support.quick_schemas import remember_schemas

_OF_FILES = {"open", "os.link", "os.rename", "os.remove"}
NOTHING = "nothing"
WHOLE = "whole"


def export(database: Database, archive: Path) -> None:
    archive.unlink(missing_ok=True)
    export_project(database, "default", archive)


TASKS: dict[str, Callable[[Database, Path], object]] = {
    "export": export,
    "import": import_project,
    "restore": partial(restore, force=True),
}


class Steps:
    """The steps of this process, of which one may be its last."""

    def __init__(self, folder: Path, *urls: str) -> None:
        databases = {make_url(url).database for url in urls}
        self.done = 0
        self.last: int | None = None
        write_entry = zipfile.ZipFile.writestr

        def write_entry_and_step(*arguments: Any) -> None:
            write_entry(*arguments)
            self._take()

        def step_of_files(name: str, arguments: tuple[Any, ...]) -> None:
            if name in _OF_FILES and str(arguments[0]).startswith(str(folder)):
                self._take()

        def is_meant(connection: Connection) -> bool:
            return connection.engine.url.database in databases

        def step_of_statements(connection: Connection, _cursor: Any, sql: str, *_: Any) -> None:
            only_asks = sql.lstrip().startswith(("SELECT", "PRAGMA"))
            if is_meant(connection) and not only_asks:
                self._take()

        def step_of_commits(connection: Connection) -> None:
            if is_meant(connection):
                self._take()

        zipfile.ZipFile.writestr = write_entry_and_step  # type: ignore[method-assign, assignment]  # This process ends here.
        event.listen(Engine, "before_cursor_execute", step_of_statements)
        event.listen(Engine, "commit", step_of_commits)
        sys.addaudithook(step_of_files)

    def _take(self) -> None:
        self.done += 1
        if self.done == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def do(task: str, url: str, archive: Path) -> None:
    database = Database(url, synchronous="normal")
    TASKS[task](database, archive)
    database.close()


def digest_of(database: Database) -> str:
    return hashlib.sha256(repr(held(database)).encode()).hexdigest()


def found(task: str, url: str, archive: Path) -> str:
    """What is there: of an export whether the file is whole, else a digest of the registry."""
    if task != "export":
        database = Database(url)
        digest = digest_of(database)
        # Nobody who is killed may have a connection of this process.
        database.close()
        return digest
    if not archive.exists():
        return NOTHING
    try:
        with opened_archive(archive, "project") as reader:
            for part in reader.manifest.parts:
                reader.read(part)
    except InvalidInput as error:
        return str(error)
    return WHOLE


def remember_all(task: str, url: str, archive: Path) -> None:
    """Let children make no schema and compile no statement anew, which is most of their work."""
    remember_statements()
    remember_schemas(pytest.MonkeyPatch())
    if task == "restore":
        # It can be done again and takes as many steps.
        do(task, url, archive)
    elif task == "import":
        database = Database(f"sqlite:///{archive.with_name('schema.db')}", synchronous="normal")
        with database.migrate() as connection:
            schema.migrate_to(connection, offdiag_migrations.head())
        database.close()


def main(task: str, rehearsal_url: str, url: str, file: str, kills: str) -> None:
    archive = Path(file)
    remember_all(task, rehearsal_url, archive)
    steps = Steps(archive.parent, rehearsal_url, url)
    do(task, rehearsal_url, archive)
    part = steps.done // int(kills)

    after_kills: set[str] = set()
    for number in range(int(kills)):
        steps.done, steps.last = 0, number * part + 1 + secrets.randbelow(part)
        if (ending := in_a_child(partial(do, task, url, archive))) != -signal.SIGKILL:
            raise SystemExit(f"{task} was to be killed at step {steps.last}, and ended: {ending}")
        steps.last = None
        after_kills.add(found(task, url, archive))
    if (ending := in_a_child(partial(do, task, url, archive))) != 0:
        raise SystemExit(f"after all kills {task} ended with {ending}")
    at_the_end = found(task, url, archive)
    say(json.dumps({"after_kills": sorted(after_kills), "at_the_end": at_the_end}))


if __name__ == "__main__":
    main(*sys.argv[1:])
