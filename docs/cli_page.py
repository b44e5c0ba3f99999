"""The page docs/cli.md: the help of every command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import click

from offdiag.cli.commands import offdiag

PATH = PurePosixPath("cli.md")
GENERATED = "<!-- Written by docs/generate.py from the help of each command; edit that. -->"
WIDTH = 80

INTRODUCTION = """\
`offdiag COMMAND …` uses the registry in `--url`, `OFFDIAG_URL` or the
[configuration](configuration.md); `evaluate` and `audit` need none. Results go to stdout,
messages and progress to stderr, and progress bars appear only if stderr is a terminal.

The registry is a database, or a [server](team-server.md) such as `https://registry.example.org`
with a token in `OFFDIAG_TOKEN` or from `offdiag login`. Commands that log, read, check or triage
print the same for both. These commands need the database itself and refuse a server: `serve`,
`worker`, `schedule`, `sql`, `hierarchy`, `samples remove`, `recompute`, `verify`, `gc`, `export`,
`import archive`, `db`, `user` and `token`.

An error is one line with the problem and a fix:

    $ offdiag evaluate predictions.csv
    offdiag: file: line 3 of predictions.csv has 3 fields, the header has 2. Quote a value …

## JSON

Every command that prints results has `--json`, which prints one object with stable keys and
numbers in full precision. An undefined value is `null` with its reason, never NaN. A list is an
object that contains the list, so that keys can be added later. Commands without `--json` run until
Ctrl-C, print a script or a file, or ask for a password or token.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | success |
| 1 | a check failed; the help of each command with this code says what that means |
| 2 | wrong usage, unusable input, or an error |
| 130 | interrupted by Ctrl-C (SIGINT) |
| 141 | the reader of the output closed the pipe, as `head` does |
| 143 | ended by SIGTERM, as shells report it |

`serve`, `worker` and `watch` stop on SIGINT, SIGTERM and SIGHUP, after what is in progress, and
exit with 0.

`OFFDIAG_TRACEBACK=1` prints the traceback of an unexpected error.

## Terminals

Tables are as wide as the terminal and do not wrap in files and pipes. Colours appear only on
terminals; `--no-color`, before or after any command, or `NO_COLOR=1` switches them off. Lists have
`--limit`.

`eval "$(offdiag completion bash)"` enables shell completion of commands, options and choices;
zsh and fish work too.

## Renamed commands

Old names are accepted for one minor version, but are not in the help:

| old | new |
| --- | --- |
| `report now` | `report create` |
| `flags list --badge` | `flags list --hides-minority` |
| `recompute --stale` | `recompute --outdated` |
| the condition `no-badge` of `gate` | `no-warning` |"""


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    parts = [GENERATED, "# Command line", INTRODUCTION, *_sections(offdiag, None)]
    return {PATH: "\n\n".join(parts) + "\n"}


def _sections(group: click.Group, parent: click.Context | None) -> Iterator[str]:
    with _context(group, "offdiag" if parent is None else str(group.name), parent) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None:
                yield _section(command, name, context)
                if isinstance(command, click.Group):
                    yield from _sections(command, context)


def _section(command: click.Command, name: str, parent: click.Context) -> str:
    with _context(command, name, parent) as context:
        path, text = context.command_path, command.get_help(context)
    level = "#" * (path.count(" ") + 1)
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"{level} `{path}`\n\n```text\n{lines}\n```"


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    settings = {**command.context_settings, "max_content_width": WIDTH}
    return click.Context(command, parent=parent, info_name=name, terminal_width=WIDTH, **settings)
