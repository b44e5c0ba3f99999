"""`export`, `import archive`, `db backup` and `db restore`: what they say, ask and refuse."""

from __future__ import annotations

import os
import pty
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import structlog

import offdiag as library
from offdiag.cli.commands import run

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]


@pytest.fixture
def logged(filled: Filled) -> str:
    """Id of an evaluated run in the registry of the folder."""
    return str(filled(log_first))


def log_first(*_: object) -> str:
    run = library.log_run(
        y_true=["ill", "ill", "well"], y_pred=["ill", "well", "well"], name="a", dataset="clinic"
    )
    run.evaluation()
    return run.id


@pytest.fixture
def other(folder: Path, migrated_file: Path) -> tuple[str, str]:
    """Options that name an empty registry beside the one of the folder."""
    return "--url", f"sqlite:///{shutil.copy(migrated_file, folder / 'other.db')}"


def at(folder: Path, name: str) -> tuple[str, str]:
    return "--url", f"sqlite:///{folder / name}"


def test_a_project_is_exported_imported_and_deleted(
    offdiag: Command, logged: str, other: tuple[str, str]
) -> None:
    offdiag("schedule", "add", "weekly", "--cron", "0 6 * * 1", "--dataset", "clinic")
    written = offdiag("export", "default", "--to", "project.zip")
    first = offdiag("import", "archive", "project.zip", *other)
    again = offdiag("import", "archive", "project.zip", *other)
    shown = offdiag("runs", "show", logged, "--json", *other).json
    deleted = offdiag("export", "default", "--to", "last.zip", "--delete")
    gone = offdiag("runs", "show", logged)
    back = offdiag("import", "archive", "last.zip")

    assert written.out.startswith(
        "project.zip contains project default: 1 run, 1 dataset, 1 label version, "
    )
    assert first.out.startswith("Project default got 1 run, 1 dataset, ")
    assert first.out.strip().endswith("Paused until `offdiag schedule resume`: weekly.")
    assert again.out.strip() == (
        "Project default is complete already; nothing was changed. 1 run known already."
    )
    assert shown["confusion_matrix"]["matrix"] == [[1, 1], [0, 1]]
    assert "Undo: offdiag import archive last.zip" in deleted.out
    assert gone.code == 2
    assert back.out.startswith("Project default got 1 run, 1 dataset, ")
    assert offdiag("runs", "show", logged).code == 0


def test_json_tells_what_was_written_and_what_was_added(
    folder: Path, offdiag: Command, logged: str, other: tuple[str, str]
) -> None:
    written = offdiag("export", "default", "--to", "project.zip", "--json").json
    taken = offdiag("import", "archive", "project.zip", "--as", "theirs", "--json", *other).json

    assert (written["kind"], written["subject"], written["rows"]["run"]) == (
        "project",
        "default",
        1,
    )
    assert written["n_bytes"] == (folder / "project.zip").stat().st_size
    assert (taken["project"], taken["new_runs"]) == ("theirs", [logged])
    # Problems are numbered anew where flags arrive.
    assert taken["added"] == {k: n for k, n in written["rows"].items() if k != "problem"}
    assert taken["paused_schedules"] == []


def test_a_registry_is_backed_up_restored_and_verified(
    folder: Path, offdiag: Command, logged: str
) -> None:
    written = offdiag("db", "backup", "backup.zip")
    restored = offdiag("db", "restore", "backup.zip", *at(folder, "new.db"))
    verified = offdiag("verify", *at(folder, "new.db"))
    again = offdiag("db", "backup", "again.zip", "--json").json
    told = offdiag("db", "restore", "again.zip", "--json", *at(folder, "newer.db")).json

    assert f"backup.zip contains {folder / 'offdiag.db'} as of " in written.out
    assert written.err == ""  # Where nobody looks there is no progress.
    assert f"{folder / 'new.db'} is restored from {folder / 'offdiag.db'} as of " in restored.out
    assert "`offdiag verify` recomputes its results" in restored.err
    assert (verified.code, verified.out.strip()) == (0, "1 run, 1 recomputed: no problems.")
    assert (again["kind"], again["rows"]["run"]) == ("backup", 1)
    assert told.pop("database") == str(folder / "newer.db")
    assert told == again


def test_a_registry_is_not_replaced_without_a_word(
    folder: Path, offdiag: Command, logged: str
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


def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path, offdiag: Command, logged: str
) -> None:
    (folder / "taken.zip").write_text("precious")
    cases: list[tuple[tuple[str, ...], str]] = [
        (("export", "nowhere", "--to", "x.zip"), "there is no project 'nowhere'"),
        (("export", "default", "--to", "taken.zip"), "'taken.zip' exists"),
        (("export", "default", "--to", "nowhere/x.zip"), "cannot be written: No such file"),
        (("import", "archive", "nowhere.zip"), "cannot be read: No such file"),
        (("import", "archive", "taken.zip"), "taken.zip is not a valid archive"),
        (("db", "backup", "taken.zip"), "'taken.zip' exists"),
        (("db", "restore", "taken.zip", "--force"), "taken.zip is not a valid archive"),
    ]
    for arguments, sentence in cases:
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


@pytest.fixture
def on_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[int, str]]]:
    """Run a command whose input and errors are a terminal; returns code and what that shows."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "300")

    def command(answer: str, *arguments: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        os.write(ours, answer.encode())
        with ThreadPoolExecutor() as pool, monkeypatch.context() as patch:
            shown = pool.submit(_read_to_the_end, ours)
            with os.fdopen(theirs) as stdin, os.fdopen(os.dup(theirs), "w") as stderr:
                patch.setattr(sys, "stdin", stdin)
                patch.setattr(sys, "stderr", stderr)
                code = run(arguments)
            return code, shown.result()

    yield command
    structlog.reset_defaults()


def _read_to_the_end(terminal: int) -> str:
    """What a terminal shows until the other end of it is closed."""
    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as screen, suppress(OSError):
        while piece := screen.read(65536):
            shown += piece
    return shown.decode()


def test_a_person_is_asked_and_sees_progress(
    offdiag: Command, logged: str, on_a_terminal: Callable[..., tuple[int, str]]
) -> None:
    offdiag("db", "backup", "backup.zip")
    library.log_run(y_true=["a", "b"], y_pred=["a", "b"], name="later", dataset="later")

    code, shown = on_a_terminal("n\n", "db", "restore", "backup.zip")
    assert code == 2
    assert "Replace everything in " in shown
    assert "1 run, 1 dataset" in shown
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 2

    code, shown = on_a_terminal("y\n", "db", "restore", "backup.zip")
    assert code == 0
    assert "Restoring" in shown
    assert "100%" in shown
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 1
