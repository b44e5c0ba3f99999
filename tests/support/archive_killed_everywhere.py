"""Program: export, import or restore again and again, each time killed some steps later.

    python -m support.archive_killed_everywhere TASK URL ARCHIVE STRIDE

A step is an SQL statement, a commit, an entry of a zip, or something that is done to a file.
After each kill a fresh process says what is there; it ends with one line of JSON: how many were
killed, and a digest of what was found after each kill, and after the one that got through.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from offdiag.errors import InvalidInput
from offdiag.services.retention.backups import restore
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.store.archive.file import opened_archive
from offdiag.store.database import Database
from support.archives import held
from support.processes import say

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


def task_until_killed(task: str, url: str, archive: Path, last_step: int) -> None:
    steps = 0

    def step(*_event: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == last_step:
            os.kill(os.getpid(), signal.SIGKILL)

    def step_of_files(name: str, _arguments: tuple[Any, ...]) -> None:
        if name in _OF_FILES:
            step()

    write_entry = zipfile.ZipFile.writestr

    def write_entry_and_step(*arguments: Any) -> None:
        write_entry(*arguments)
        step()

    zipfile.ZipFile.writestr = write_entry_and_step  # type: ignore[method-assign, assignment]  # This process ends here.
    event.listen(Engine, "before_cursor_execute", step)
    event.listen(Engine, "commit", step)
    sys.addaudithook(step_of_files)
    TASKS[task](Database(url, synchronous="normal"), archive)


def digest_of(database: Database) -> str:
    return hashlib.sha256(repr(held(database)).encode()).hexdigest()


def found(task: str, url: str, archive: Path) -> str:
    """What is there: of an export whether the file is whole, else a digest of the registry."""
    if task != "export":
        return digest_of(Database(url))
    if not archive.exists():
        return NOTHING
    try:
        with opened_archive(archive, "project") as reader:
            for part in reader.manifest.parts:
                reader.read(part)
    except InvalidInput as error:
        return str(error)
    return WHOLE


def in_a_child(act: Callable[[], str | None]) -> tuple[int, str]:
    """Signal or exit code with which a forked process ends, and what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = act()
        os.write(writing, (said or "").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def main(task: str, url: str, file: str, stride: str) -> None:
    archive = Path(file)
    after_kills: set[str] = set()
    for kills in itertools.count():
        last_step = 1 + kills * int(stride)
        ending, _ = in_a_child(partial(task_until_killed, task, url, archive, last_step))
        code, said = in_a_child(partial(found, task, url, archive))
        if code != 0 or ending not in {0, -signal.SIGKILL}:
            raise SystemExit(
                f"after {kills} kills: {task} ended with {ending}, looking with {code}"
            )
        if ending == 0:
            break
        after_kills.add(said)
    say(json.dumps({"kills": kills, "after_kills": sorted(after_kills), "at_the_end": said}))


if __name__ == "__main__":
    main(*sys.argv[1:])
