"""The help of every command is complete: arguments, examples, exit codes and --json."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from offdiag.cli.commands import offdiag as root
from offdiag.cli.commands import run
from offdiag.cli.options import HelpText, help_text_of
from support.command_lines import command_of


def commands(
    group: click.Group = root, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its words after `offdiag`."""
    context = click.Context(group, parent=parent, info_name=group.name)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for path, below in commands(command, context):
                yield f"{name} {path}", below
        else:
            yield name, command


COMMANDS = dict(commands())


def options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def text_of(path: str) -> HelpText:
    text = help_text_of(COMMANDS[path])
    assert text is not None, "decorate the command with @help_text"
    return text


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 50


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_says_what_it_does_and_shows_how(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = text_of(path)

    assert run([*path.split(), "--help"]) == 0

    text = capsys.readouterr().out
    assert (COMMANDS[path].help or "").strip()
    assert "Examples:\n    $ offdiag " in text
    assert "Exit codes: 0 done," in text
    assert ("1 " in text.split("Exit codes: 0 done,")[1]) or entry.no is None
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Argument):
            assert parameter.help, f"say in @help_text what {parameter.name} is"
        if isinstance(parameter, click.Option):
            assert parameter.help, f"say what --{parameter.name} is"


def test_examples_and_other_commands_exist() -> None:
    for path, command in COMMANDS.items():
        for example in text_of(path).examples:
            assert example.startswith(path)
            assert command_of(shlex.split(example)) is command or path.startswith("import ")
        assert set(text_of(path).see) <= set(COMMANDS) - {path}, path


def test_a_command_that_prints_has_json_or_a_reason() -> None:
    for path, command in COMMANDS.items():
        assert ("--json" in options(command)) is (text_of(path).no_json is None), path


def test_options_are_spelled_alike() -> None:
    for path, command in COMMANDS.items():
        named = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
        assert [each for each in named if "_" in each or not each.startswith("-")] == [], path
        assert "--no-color" in named


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    with pytest.raises(click.UsageError):
        command_of(["runs", "list", "--colour"])


def test_a_group_says_what_its_commands_are_about() -> None:
    context = click.Context(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(), name


@pytest.mark.parametrize("width", [60, 80, 99])
def test_the_help_cuts_no_line_and_groups_every_command(width: int) -> None:
    context = click.Context(root, terminal_width=width, max_content_width=99)

    _, *lines = root.get_help(context).splitlines()

    assert not [line for line in lines if line.rstrip().endswith(("...", "…"))]
    assert all(len(line) <= width for line in lines)
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert 5 <= len(headings) <= 9
    named = [line.split()[0] for line in lines if line.startswith("  ") and line.split()]
    assert [named.count(name) for name in root.list_commands(context)] == [1] * len(
        root.list_commands(context)
    )


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys\n"
        "from offdiag.cli.commands import run\n"
        "run(['--help'])\n"
        "assert not {'rich', 'pydantic', 'sqlalchemy'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_list_of_commands_has_their_first_sentences_whole() -> None:
    for name, command in COMMANDS.items():
        assert not command.get_short_help_str(limit=45).endswith("..."), name
