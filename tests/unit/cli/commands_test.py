"""Shell completion of commands and options, names of the version before, and how errors end."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from offdiag.cli import commands
from offdiag.cli.commands import OLD_NAMES, current_names
from offdiag.errors import Conflict

Command = Callable[..., Any]


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
    assert complete("offdiag ru") == [("runs", "Show, compare, delete and restore runs.")]
    assert {"backup", "restore"} <= dict(complete("offdiag db ")).keys()
    assert "--limit" in dict(complete("offdiag runs list --l"))
    assert [value for value, _ in complete("offdiag completion ")] == ["bash", "zsh", "fish"]


def test_values_are_completed_without_a_registry(complete: Complete, folder: Path) -> None:
    (folder / "offdiag.db").unlink()

    assert complete("offdiag runs show r_") == []
    assert complete("offdiag no-such command --limit") == []
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("old", OLD_NAMES)
def test_a_name_of_the_version_before_means_the_new_one(old: str) -> None:
    *path, name = old.split()
    new = OLD_NAMES[old].split()

    assert current_names([*path, name, "x"]) == [*new, "x"]
    assert current_names(["--no-color", *path, name]) == ["--no-color", *new]
    assert current_names(["runs", "show", name]) == ["runs", "show", name]
    assert current_names([*path, "--", name]) == [*path, "--", name]


@pytest.mark.parametrize("old", OLD_NAMES)
def test_help_has_new_names_alone(old: str, offdiag: Command) -> None:
    *path, name = old.split()
    new = OLD_NAMES[old].split()[-1]

    words = offdiag(*path, "--help").out.split()

    assert new in words
    assert name not in words


def test_a_command_is_called_by_its_old_name(offdiag: Command) -> None:
    assert offdiag("recompute", "--stale").out == "No run is outdated.\n"
    assert offdiag("flags", "list", "--badge").out == "There are no such flags.\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(offdiag: Command, shell: str) -> None:
    answer = offdiag("completion", shell)

    assert answer.code == 0
    assert f"_OFFDIAG_COMPLETE={shell}_complete" in answer.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_with_the_script(folder: Path, offdiag: Command) -> None:
    (folder / "completion.bash").write_text(offdiag("completion", "bash").out, encoding="utf-8")
    program = folder / "bin" / "offdiag"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from offdiag.cli import main; main()' \"$@\"\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    script = """
        source ./completion.bash || exit 3
        COMP_WORDS=(offdiag runs sh) COMP_CWORD=2
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
    assert done.stdout.split() == ["show"]


def failing_with(error: Exception) -> click.Command:
    @click.command()
    def fail() -> None:
        raise error

    return fail


def answer_to(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Exit code and stderr of a command that raises."""
    monkeypatch.setattr(commands, "offdiag", failing_with(error))
    code = commands.run([])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            Conflict("the key is taken.", field="client_key", hint="Use another."),
            "offdiag: client_key: the key is taken. Use another.\n",
        ),
        (Conflict("run 'a\x1b[2J\nb\u202ec'."), "offdiag: run 'a\\x1b[2J b\\u202ec'.\n"),
        (ModuleNotFoundError("No flask", name="flask"), "pip install 'offdiag[server]'"),
        (ModuleNotFoundError("No sklearn", name="sklearn"), "pip install 'offdiag[demo]'"),
    ],
    ids=["field and hint", "text of others", "server", "demo"],
)
def test_an_error_is_one_line_that_says_what_to_do(
    error: Exception,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, text = answer_to(error, monkeypatch, capsys)

    assert code == commands.ERROR
    assert text == says if isinstance(error, Conflict) else says in text


def test_a_defect_is_one_line_or_raised_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(commands.TRACEBACK_VARIABLE, raising=False)
    code, text = answer_to(ZeroDivisionError("division by zero"), monkeypatch, capsys)

    assert code == commands.ERROR
    assert text.startswith("offdiag: unexpected ZeroDivisionError: division by zero.")
    assert commands.TRACEBACK_VARIABLE in text
    assert text.count("\n") == 1
    monkeypatch.setenv(commands.TRACEBACK_VARIABLE, "1")
    with pytest.raises(ZeroDivisionError):
        answer_to(ZeroDivisionError(), monkeypatch, capsys)


def test_ctrl_c_is_told_from_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "offdiag", failing_with(click.Abort()))

    assert commands.run([]) == commands.INTERRUPTED
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evalute"], "No such command 'evalute'. Did you mean 'evaluate'?"),
        (["run", "list"], "No such command 'run'. Did you mean 'runs'?"),
        (["import", "sklear"], "No such command 'sklear'. Did you mean 'sklearn'?"),
        (["evaluate"], "Missing argument 'FILE'"),
        (["user", "add", "ana"], "logger, editor, admin. See: offdiag user add --help"),
        (["runs", "list", "--limit", "0"], "Invalid value for '--limit'"),
        (["evaluate", "x.csv", "--colour"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_that_points_to_the_help(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = commands.run(arguments)

    text = capsys.readouterr().err
    assert code == commands.ERROR
    assert says in text
    assert "--help" in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["runs"]])
def test_a_group_without_a_command_shows_its_help(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.run([*words, "--help"]) == commands.OK
    shown = capsys.readouterr()

    assert commands.run(words) == commands.ERROR
    assert capsys.readouterr() == shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["--version"]) == commands.OK
    assert capsys.readouterr().out.startswith("offdiag ")


@pytest.mark.parametrize(
    ("redirection", "code", "error"),
    [
        (">&-", 0, ""),
        ("> /dev/full", 2, "offdiag: output: the disk is full. Make room, or write elsewhere."),
    ],
)
def test_an_output_that_takes_nothing_is_no_defect(
    redirection: str, code: int, error: str
) -> None:
    program = "from offdiag.cli import main; main()"
    line = f"{sys.executable} -c '{program}' completion bash {redirection}"

    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr[: len(error)]) == (code, error)
    assert "defect" not in done.stderr


def test_an_error_that_cannot_be_printed_keeps_its_exit_code() -> None:
    program = "from offdiag.cli import main; main()"
    line = f"{sys.executable} -c '{program}' completion klingon 2> /dev/full"

    assert subprocess.run(["sh", "-c", line], check=False).returncode == commands.ERROR


def test_an_output_shows_what_its_encoding_has_not_as_an_escape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "matrix.csv"
    file.write_text(",İ,😀\nİ,3,1\n😀,2,4\n", encoding="utf-8")
    words = ["offdiag", "evaluate", str(file), "--matrix", "--orientation", "actual_rows"]

    def said(*options: str) -> str:
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "argv", [*words, *options])
        with pytest.raises(SystemExit) as ended:
            commands.main()
        assert ended.value.code == 0
        return out.buffer.getvalue().decode("ascii")

    table = said()
    assert "\\u0130" in table
    assert "\\U0001f600" in table
    assert json.loads(said("--json"))["labels"] == ["İ", "😀"]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = [sys.executable, "-c", "from offdiag.cli import main; main()", "completion", "bash"]
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )

    os.close(writing)
    assert (done.returncode, done.stderr) == (commands.PIPE_CLOSED, "")


def test_an_interruption_while_the_commands_are_imported_says_nothing() -> None:
    program = (
        "import builtins, os, signal; from offdiag.cli import main\n"
        "imported = builtins.__import__\n"
        "def interrupted(name, *more):\n"
        "    if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return imported(name, *more)\n"
        "builtins.__import__ = interrupted\n"
        "main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (commands.INTERRUPTED, "", "")


@pytest.mark.parametrize(
    "words",
    [["runs", "list", "--url", f"sqlite:////tmp/{'a' * 300}/r.db"], ["evaluate", "b" * 5000]],
)
def test_a_path_that_is_too_long_is_no_defect(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.run(words) == commands.ERROR

    said = capsys.readouterr().err
    assert "defect" not in said
    assert "is longer than a path may be" in said or "cannot be read" in said
