"""Command lines that are read and not run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from offdiag.cli.commands import offdiag


def command_of(words: Sequence[str]) -> click.Command:
    """The command that these words name after `offdiag`, with arguments and options it takes.

    Raises `click.UsageError` for others. Files that they speak of need not be here.
    """
    command: click.Command = offdiag
    context = click.Context(offdiag, info_name="offdiag")
    rest = list(words)
    while isinstance(command, click.Group):
        found = command.get_command(context, rest[0])
        if found is None:
            raise click.UsageError(f"{' '.join(words)}: there is no {rest[0]!r}.")
        command, rest = found, rest[1:]
    try:
        command.make_context("offdiag", rest, parent=context)
    except click.MissingParameter:
        raise
    except click.BadParameter as error:
        if "does not exist" not in error.format_message():
            raise
    return command
