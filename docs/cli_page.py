"""The page docs/cli.md: what every verb of the command line says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import click

from offdiag.cli.commands import offdiag

PATH = PurePosixPath("cli.md")
GENERATED = "<!-- Written by docs/generate.py from the help of each verb; edit that. -->"
WIDTH = 80

INTRODUCTION = """\
`offdiag VERB …` works on the registry that `--url`, `OFFDIAG_URL` or the
[configuration](configuration.md) names; `evaluate` and `audit` need none. Results go to stdout,
notes and progress to stderr, and progress bars appear only where stderr is a terminal.

An error is one line that says what is wrong and what to do next:

    $ offdiag evaluate predictions.csv
    offdiag: file: line 3 of predictions.csv has 3 fields, the header has 2. Quote a value …

## JSON

Every verb that prints has `--json`: one object, keys that stay, numbers with full precision. An
undefined value is `null` with its reason, never NaN. Commands that have no `--json` stay until
Ctrl-C, or print a script or a file. Lists are objects with one list in them, so that something
can be added beside it.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | it worked and the answer is no; which question that is, each verb with this code says below |
| 2 | wrong usage, unusable input, or an error |
| 130 | interrupted by Ctrl-C before it was done; `serve` and `worker` end with 0 |
| 141 | whoever read the output stopped reading, as `head` does |

With `OFFDIAG_TRACEBACK=1` an unexpected error shows where it happened.

## Terminals

Tables are as wide as the terminal, and are not folded in files and pipes. Colours appear on
terminals alone; `--no-color`, before or after any verb, or `NO_COLOR=1` does without. Lists have
`--limit`.

`eval "$(offdiag completion bash)"` lets the shell complete verbs, options, ids of runs, names of
datasets, projects and costs, and keys of metrics; zsh and fish work likewise. Names come from
the registry that is configured; where it does not answer, nothing is offered. A name that a shell
would take apart or run is not offered either."""


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
