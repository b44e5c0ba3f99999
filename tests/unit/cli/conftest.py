"""The command line as a function, in a folder and an environment of its own."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

from offdiag.cli.commands import run
from support.quick_schemas import remember_schemas


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Answer]
Filling = Callable[[Path, Command], Any]
_filled: dict[Filling, tuple[Any, dict[str, bytes]]] = {}


@pytest.fixture(autouse=True)
def _quick_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_schemas(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, registry_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the commands, with a registry in it and no other setting."""
    for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OFFDIAG_URL", registry_url)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_registry(folder: Path) -> None:
    """Take the registry out of that folder."""
    (folder / "offdiag.db").unlink()


@pytest.fixture
def offdiag(folder: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Run a command line and take its output."""

    def command(*arguments: str) -> Answer:
        capfd.readouterr()
        code = run(arguments)
        captured = capfd.readouterr()
        return Answer(code, captured.out, captured.err)

    yield command
    # Commands that stay write their log to the stderr of this test, which is closed after it.
    structlog.reset_defaults()


@pytest.fixture
def filled(folder: Path, offdiag: Command) -> Callable[[Filling], Any]:
    """Fill the folder once for all tests of a process that begin with the same.

    Later ones get a copy of the files, and of what was returned then, which must not change.
    """

    def fill(once: Filling) -> Any:
        if once not in _filled:
            given = once(folder, offdiag)
            with closing(sqlite3.connect(folder / "offdiag.db")) as connection:
                # Everything is moved into the file itself.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            files = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
            _filled[once] = (given, files)
            return given
        given, files = _filled[once]
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return given

    return fill
