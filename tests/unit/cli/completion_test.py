"""Completion: the right names, quickly, never an error, and nothing a shell would run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as sdk
from offdiag.store.database import Database
from offdiag.store.search import known_names

Command = Callable[..., Any]


@pytest.fixture
def registry(folder: Path) -> str:
    """Id of a run on a dataset, beside one whose name is a command."""
    for dataset in ("clinic", "$(touch hacked)", "with space"):
        run = sdk.log_run(
            y_true=["a", "b"], y_pred=["a", "b"], name="n", dataset=dataset, project="p1"
        )
    return run.id


@pytest.fixture
def complete(
    offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], list[tuple[str, str]]]:
    """What zsh would offer for the last word of a line: values and what is said of each."""

    def completed(line: str) -> list[tuple[str, str]]:
        words = line.split(" ")
        monkeypatch.setenv("_OFFDIAG_COMPLETE", "zsh_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        answer = offdiag()
        assert (answer.code, answer.err) == (0, "")
        parts = answer.out.splitlines()
        return list(zip(parts[1::3], parts[2::3], strict=True))

    return completed


Complete = Callable[[str], list[tuple[str, str]]]


def test_verbs_options_and_choices_are_completed(complete: Complete) -> None:
    assert complete("offdiag ru") == [("runs", "Look at the runs of a registry; delete and...")]
    assert {"backup", "restore"} <= dict(complete("offdiag db ")).keys()
    assert "--limit" in dict(complete("offdiag runs list --l"))
    assert [value for value, _ in complete("offdiag completion ")] == ["bash", "zsh", "fish"]


def test_names_of_the_registry_are_completed(complete: Complete, registry: str) -> None:
    assert (registry, "n") in complete("offdiag runs show r_")
    assert (registry, "n") in complete(f"offdiag compare {registry} r_")
    assert complete("offdiag log f --dataset cl") == [("clinic", "binary")]
    assert [value for value, _ in complete("offdiag export p")] == ["p1"]
    assert ("recall", "Recall") in complete("offdiag gate r_1 --min rec")


def test_names_that_a_shell_would_run_or_split_are_left_out(
    complete: Complete, registry: str
) -> None:
    assert complete("offdiag log f --dataset ") == [("clinic", "binary")]


@pytest.mark.usefixtures("registry")
def test_costs_are_completed(complete: Complete, folder: Path, offdiag: Command) -> None:
    (folder / "c.json").write_text(
        '{"weights": {"a": {"a": 0, "b": 5}, "b": {"a": 1, "b": 0}}, "note": "why"}',
        encoding="utf-8",
    )
    added = offdiag("cost", "add", "screening", "c.json", "--dataset", "clinic", "--project", "p1")
    assert added.code == 0, added.err

    assert complete("offdiag cost show s") == [("screening", "why")]
    assert complete("offdiag gate r_1 --cost-matrix sc") == [("screening", "why")]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:////nowhere/at/all.db",
        "postgresql+psycopg://nobody@127.0.0.1:1/none",
        "nonsense",
        "https://registry.example.org",
    ],
)
def test_a_registry_that_is_not_there_is_no_error(
    complete: Complete, monkeypatch: pytest.MonkeyPatch, folder: Path, url: str
) -> None:
    monkeypatch.setenv("OFFDIAG_URL", url)

    assert complete("offdiag runs show r_") == []
    assert complete("offdiag no-such verb --limit") == []
    assert list(folder.iterdir()) == []


def test_names_are_found_on_both_databases(database: Database) -> None:
    sdk.log_matrix(
        [[1, 0], [0, 1]],
        orientation="actual_rows",
        labels=["a", "b"],
        name="n",
        dataset="d_1",
        url=database.url,
    )

    with database.read() as session:
        assert known_names(session, "dataset", "d_") == [("d_1", "binary")]
        assert known_names(session, "dataset", "%") == []
        assert known_names(session, "project", "def") == [("default", None)]
        assert known_names(session, "cost", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(offdiag: Command, shell: str) -> None:
    answer = offdiag("completion", shell)

    assert answer.code == 0
    assert f"_OFFDIAG_COMPLETE={shell}_complete" in answer.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_with_the_script(folder: Path, registry: str) -> None:
    program = folder / "bin" / "offdiag"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from offdiag.cli import main; main()' \"$@\"\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    script = """
        eval "$(offdiag completion bash)" || exit 3
        COMP_WORDS=(offdiag runs show r_) COMP_CWORD=3
        _offdiag_completion offdiag
        printf '%s\\n' "${COMPREPLY[@]}"
    """

    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stderr == ""
    assert registry in done.stdout.split()
