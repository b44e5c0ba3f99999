"""The entries of the manual, put into the help of the commands they are about."""

from __future__ import annotations

from collections.abc import Mapping

import click

from offdiag.cli.manual import access, evaluating, judging, operating, reporting
from offdiag.cli.manual.entry import ARGUMENTS, Entry

ENTRIES: Mapping[str, Entry] = {
    **access.ENTRIES,
    **operating.ENTRIES,
    **evaluating.ENTRIES,
    **judging.ENTRIES,
    **reporting.ENTRIES,
}


def add_manual(command: click.Command, path: str) -> None:
    """Add to the help of a command what the manual says about it; `path` is its words."""
    entry = ENTRIES.get(path)
    if entry is None:
        return
    command.epilog = _epilog(entry)
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.help is None:
            name = str(parameter.name)
            parameter.help = entry.arguments.get(name, ARGUMENTS.get(name))


def _epilog(entry: Entry) -> str:
    lines = "\n".join(f"  $ offdiag {example}" for example in entry.examples)
    no = "" if entry.no is None else f" 1 {entry.no},"
    parts = [
        f"\b\nExamples:\n{lines}",
        f"Exit codes: 0 done,{no} 2 error, 130 interrupted.",
    ]
    if entry.note is not None:
        parts.insert(0, entry.note)
    if entry.see:
        others = ", ".join(f"offdiag {path}" for path in entry.see)
        parts.append(f"See also: {others}.")
    return "\n\n".join(parts)
