"""`export`, `import archive`, `db backup` and `db restore`: what they say, ask and refuse."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as library

Command = Callable[..., Any]


@pytest.fixture
def logged(folder: Path) -> library.Run:
    """An evaluated run in the registry of the folder."""
    run = library.log_run(
        y_true=["ill", "ill", "well"], y_pred=["ill", "well", "well"], name="a", dataset="clinic"
    )
    run.evaluation()
    return run


def at(folder: Path, name: str) -> tuple[str, str]:
    return "--url", f"sqlite:///{folder / name}"


def test_a_project_is_exported_and_imported(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    written = offdiag("export", "default", "--to", "project.zip")
    first = offdiag("import", "archive", "project.zip", *at(folder, "other.db"))
    again = offdiag("import", "archive", "project.zip", *at(folder, "other.db"))

    assert written.out.startswith(
        "project.zip contains project default: 1 run, 1 dataset, 1 label version, "
    )
    assert first.out.startswith("Project default got 1 run, 1 dataset, ")
    assert again.out.strip() == (
        "Project default is complete already; nothing was changed. 1 run known already."
    )
    shown = offdiag("runs", "show", logged.id, "--json", *at(folder, "other.db")).json
    assert shown["confusion_matrix"]["matrix"] == [[1, 1], [0, 1]]


def test_an_exported_project_can_be_deleted(offdiag: Command, logged: library.Run) -> None:
    deleted = offdiag("export", "default", "--to", "project.zip", "--delete")
    gone = offdiag("runs", "show", logged.id)
    back = offdiag("import", "archive", "project.zip")

    assert "Undo: offdiag import archive project.zip" in deleted.out
    assert gone.code == 2
    assert back.out.startswith("Project default got 1 run, 1 dataset, ")
    assert offdiag("runs", "show", logged.id).code == 0


def test_json_tells_what_was_written_and_what_was_added(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    written = offdiag("export", "default", "--to", "project.zip", "--json").json
    taken = offdiag(
        "import", "archive", "project.zip", "--as", "theirs", "--json", *at(folder, "other.db")
    ).json

    assert (written["kind"], written["subject"], written["rows"]["run"]) == (
        "project",
        "default",
        1,
    )
    assert written["n_bytes"] == (folder / "project.zip").stat().st_size
    assert (taken["project"], taken["new_runs"]) == ("theirs", [logged.id])
    # Problems are numbered anew where flags arrive.
    assert taken["added"] == {k: n for k, n in written["rows"].items() if k != "problem"}
    assert taken["paused_schedules"] == []


def test_paused_schedules_are_named(folder: Path, offdiag: Command, logged: library.Run) -> None:
    offdiag("schedule", "add", "weekly", "--cron", "0 6 * * 1", "--dataset", "clinic")
    offdiag("export", "default", "--to", "project.zip")

    taken = offdiag("import", "archive", "project.zip", *at(folder, "other.db"))

    assert taken.out.strip().endswith("Paused until `offdiag schedule resume`: weekly.")


def test_a_registry_is_backed_up_restored_and_verified(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    written = offdiag("db", "backup", "backup.zip")
    restored = offdiag("db", "restore", "backup.zip", *at(folder, "new.db"))
    verified = offdiag("verify", *at(folder, "new.db"))

    assert f"backup.zip contains {folder / 'offdiag.db'} as of " in written.out
    assert f"{folder / 'new.db'} is restored from {folder / 'offdiag.db'} as of " in restored.out
    assert "`offdiag verify` recomputes its results" in restored.err
    assert (verified.code, verified.out.strip()) == (
        0,
        "1 run, 1 recomputed: no problems.",
    )


def test_backup_and_restore_speak_json(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    written = offdiag("db", "backup", "backup.zip", "--json").json
    restored = offdiag("db", "restore", "backup.zip", "--json", *at(folder, "new.db")).json

    assert (written["kind"], written["rows"]["run"]) == ("backup", 1)
    assert restored.pop("database") == str(folder / "new.db")
    assert restored == written


def test_a_registry_is_not_replaced_without_a_word(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    offdiag("db", "backup", "backup.zip")
    library.log_run(y_true=["a", "b"], y_pred=["a", "b"], name="later", dataset="later")

    refused = offdiag("db", "restore", "backup.zip")
    left = len(offdiag("runs", "list", "--json").json["runs"])
    replaced = offdiag("db", "restore", "backup.zip", "--force")

    assert refused.code == 2
    assert "is not empty. Name an empty database, or give --force" in refused.err
    assert left == 2
    assert replaced.code == 0
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export", "nowhere", "--to", "x.zip"), "there is no project 'nowhere'"),
        (("export", "default", "--to", "taken.zip"), "'taken.zip' exists"),
        (("export", "default", "--to", "nowhere/x.zip"), "cannot be written: No such file"),
        (("import", "archive", "nowhere.zip"), "cannot be read: No such file"),
        (("import", "archive", "taken.zip"), "taken.zip is not a whole archive"),
        (("db", "backup", "taken.zip"), "'taken.zip' exists"),
        (("db", "restore", "taken.zip", "--force"), "taken.zip is not a whole archive"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path,
    offdiag: Command,
    logged: library.Run,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    (folder / "taken.zip").write_text("precious")

    answer = offdiag(*arguments)

    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""
    assert (folder / "taken.zip").read_text() == "precious"
    assert not (folder / "x.zip").exists()


@pytest.mark.usefixtures("no_registry")
def test_a_backup_does_not_upgrade_what_it_saves(folder: Path, offdiag: Command) -> None:
    from offdiag.store.database import Database
    from offdiag.store.schema import check, migrate_to

    database = Database(f"sqlite:///{folder / 'offdiag.db'}")
    with database.migrate() as connection:
        migrate_to(connection, "0001_registry")

    written = offdiag("db", "backup", "backup.zip", "--json").json

    assert written["schema"] == check(database).current == "0001_registry"
    database.close()


def on_a_terminal(folder: Path, answer: bytes, *arguments: str) -> tuple[int, bytes]:
    """Run a command whose input and errors are a terminal; returns code and what that shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "300"}
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("offdiag")), *arguments],
        cwd=folder,
        env=environment,
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.DEVNULL,
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # The other end is closed.
            break
        shown += piece
        if not piece:
            break
    os.close(ours)
    try:
        return process.wait(60), shown
    finally:
        process.kill()


@pytest.mark.processes
def test_a_person_is_asked_and_sees_progress(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    offdiag("db", "backup", "backup.zip")
    library.log_run(y_true=["a", "b"], y_pred=["a", "b"], name="later", dataset="later")

    code, shown = on_a_terminal(folder, b"n\n", "db", "restore", "backup.zip")
    assert code == 2
    assert b"Replace everything in " in shown
    assert b"1 run, 1 dataset" in shown
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 2

    code, shown = on_a_terminal(folder, b"y\n", "db", "restore", "backup.zip")
    assert code == 0
    assert b"Restoring" in shown
    assert b"100%" in shown
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 1


def test_where_nobody_looks_there_is_no_progress(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    assert offdiag("db", "backup", "backup.zip").err == ""
    assert json.loads(offdiag("export", "default", "--to", "p.zip", "--json").out)
