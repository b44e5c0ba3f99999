"""Commands that messages and pages tell people to type are commands that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from offdiag.cli.commands import offdiag

ROOT = Path(__file__).parents[2]
SOURCES = ("registry", "web", "workers")
NAMED = (
    re.compile(r"`offdiag ([a-z][^`]*)`"),
    re.compile(r"<code>offdiag ([a-z][^<]*)</code>"),
)


def named_commands() -> Iterator[tuple[str, list[str]]]:
    """Where a command is named, and its words after `offdiag`."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in {".py", ".html"}:
                continue
            for pattern in NAMED:
                for found in pattern.finditer(path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(ROOT)}: {found.group()}", found.group(1).split()


def exists(words: list[str]) -> bool:
    """Whether the words begin with a verb, and a command of it where it has commands."""
    command: click.Command | None = offdiag
    for word in words:
        # An ellipsis stands for any command of a verb; a brace or capitals for what is filled in.
        if not isinstance(command, click.Group) or not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        command = command.get_command(click.Context(command), word)
    return command is not None


def test_every_command_that_is_named_exists() -> None:
    assert [where for where, words in named_commands() if not exists(words)] == []


def test_there_are_such_commands_and_another_one_would_be_noticed() -> None:
    assert len(list(named_commands())) > 20
    assert not exists(["cost", "give"])
    assert not exists(["give"])
