"""The quick start runs as it stands, and prints what it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from offdiag.cli.commands import run
from support.page_blocks import ROOT, commands

PAGE = ROOT / "docs" / "quickstart.md"
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SERVES = ["offdiag", "serve"]
"""Goes on until Ctrl-C; what it prints is tested with the command."""
RUN_ID = re.compile(r"\br_[0-9a-z]{12}\b")


def shown(text: str) -> list[str]:
    """Lines without white space at their ends, and with runs called alike."""
    return [RUN_ID.sub("r_…", line.rstrip()) for line in text.strip("\n").splitlines()]


def test_every_block_prints_what_is_below_it(
    tmp_path: Path,
    registry_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OFFDIAG_URL", registry_url)
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "__main__"}
    printed, n_compared = "", 0

    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(text, PAGE.name, "exec"), session)
            printed = capfd.readouterr().out
        elif kind == "text":
            assert shown(text) == shown(printed)
            n_compared += 1
        else:
            (words,) = commands(text)
            if words == SERVES:
                continue
            assert run(words[1:]) == 0
            assert shown(text)[1:] == shown(capfd.readouterr().out)
            n_compared += 1

    assert n_compared == 5
