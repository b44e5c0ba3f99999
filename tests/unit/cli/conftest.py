"""The command line as a function, in a folder and an environment of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

from offdiag.cli.commands import run


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
