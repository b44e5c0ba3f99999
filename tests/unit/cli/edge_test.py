"""Errors are one line with a way out; exit codes mean what the documentation says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import pytest

from offdiag.cli import edge
from offdiag.cli.verbs import VERBS
from offdiag.cli.verbs import offdiag as command_group
from offdiag.errors import Conflict
from support.processes import running


def failing_with(error: Exception) -> click.Command:
    @click.command()
    def fail() -> None:
        raise error

    return fail


def answer_to(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Exit code and stderr of a verb that raises."""
    monkeypatch.setattr(edge, "offdiag", failing_with(error))
    code = edge.run([])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_an_error_of_ours_is_one_line_with_field_and_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = Conflict("the key is taken.", field="client_key", hint="Use another.")

    code, text = answer_to(error, monkeypatch, capsys)

    assert code == edge.ERROR
    assert text == "offdiag: client_key: the key is taken. Use another.\n"


def test_text_of_others_cannot_move_the_cursor_or_break_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = answer_to(Conflict("run 'a\x1b[2J\nb\u202ec'."), monkeypatch, capsys)

    assert code == edge.ERROR
    assert text == "offdiag: run 'a\\x1b[2J b\\u202ec'.\n"


def test_a_defect_is_one_line_and_says_how_to_see_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(edge.TRACEBACK_VARIABLE, raising=False)

    code, text = answer_to(ZeroDivisionError("division by zero"), monkeypatch, capsys)

    assert code == edge.ERROR
    assert text.startswith("offdiag: unexpected ZeroDivisionError: division by zero.")
    assert edge.TRACEBACK_VARIABLE in text
    assert text.count("\n") == 1


def test_a_defect_is_raised_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(edge.TRACEBACK_VARIABLE, "1")

    with pytest.raises(ZeroDivisionError):
        answer_to(ZeroDivisionError(), monkeypatch, capsys)


@pytest.mark.parametrize(("module", "extra"), [("flask", "server"), ("sklearn", "demo")])
def test_a_missing_optional_library_is_named_with_the_command_that_installs_it(
    module: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = ModuleNotFoundError(f"No module named {module!r}", name=module)

    code, text = answer_to(error, monkeypatch, capsys)

    assert code == edge.ERROR
    assert f"pip install 'offdiag[{extra}]'" in text


def test_ctrl_c_is_told_from_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(edge, "offdiag", failing_with(click.Abort()))

    assert edge.run([]) == edge.INTERRUPTED
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evalute"], "No such command 'evalute'"),
        (["evaluate"], "Missing argument 'FILE'"),
        (["runs", "list", "--limit", "0"], "Invalid value for '--limit'"),
        (["evaluate", "x.csv", "--colour"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_that_points_to_the_help(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = edge.run(arguments)

    text = capsys.readouterr().err
    assert code == edge.ERROR
    assert says in text
    assert "--help" in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_it_does(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = edge.run([verb, "--help"])

    assert code == edge.OK
    assert capsys.readouterr().out.startswith(f"Usage: offdiag {verb}")


def test_the_version_and_all_verbs_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert edge.run(["--version"]) == edge.OK
    assert capsys.readouterr().out.startswith("offdiag ")
    assert edge.run(["--help"]) == edge.OK
    assert all(f"  {verb} " in text for verb in VERBS for text in [_help()])


def _help() -> str:
    with click.Context(command_group, info_name="offdiag") as context:
        return command_group.get_help(context)


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    n_classes = 200
    labels = [f"class {number}" for number in range(n_classes)]
    rows = [",".join([label, *["1"] * n_classes]) for label in labels]
    file.write_text("\n".join([",".join(["", *labels]), *rows]), encoding="utf-8")
    program = "from offdiag.cli import main; main()"
    command = [sys.executable, "-c", program, "evaluate", str(file), "--matrix", "--json"]
    command += ["--orientation", "actual_rows"]

    # Unbuffered output of Python does not notice that a write was cut short.
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONUNBUFFERED"}

    with running(command, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
        code = process.wait(timeout=60)

    assert code == edge.PIPE_CLOSED
    assert errors == ""
