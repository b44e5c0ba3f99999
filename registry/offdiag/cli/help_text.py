"""What the help of a command shows beside its options: examples, exit codes, other commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakKeyDictionary

import click

Command = TypeVar("Command", bound=click.Command)


@dataclass(frozen=True, slots=True)
class HelpText:
    """What the help of a command adds to what its options say.

    `examples` are command lines without the leading `offdiag`, `see` are paths of other
    commands. `arguments` says what a positional argument is, by its name in the code; those in
    `ARGUMENTS` need no mention. `no` is what exit code 1 means, for commands that have it.
    `no_json` says why a command has no --json, `note` what else there is to know.
    """

    examples: tuple[str, ...]
    see: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    no: str | None = None
    no_json: str | None = None
    note: str | None = None

    def epilog(self) -> str:
        """The text below the options, in the form in which click wraps it."""
        lines = "\n".join(f"  $ offdiag {example}" for example in self.examples)
        no = "" if self.no is None else f" 1 {self.no},"
        parts = [
            f"\b\nExamples:\n{lines}",
            f"Exit codes: 0 done,{no} 2 error, 130 interrupted.",
        ]
        if self.note is not None:
            parts.insert(0, self.note)
        if self.see:
            others = ", ".join(f"offdiag {path}" for path in self.see)
            parts.append(f"See also: {others}.")
        return "\n\n".join(parts)


ARGUMENTS = {
    "run_id": "Id of the run, such as r_4bcd6fgh8jkm.",
    "run_ids": "Ids of runs.",
    "dataset": "Name of the dataset.",
    "flag_id": "Number of the flag: 31 or F-31.",
    "ids": "Numbers of flags: 31 or F-31.",
}
"""Arguments that mean the same wherever they occur."""

_TEXTS: WeakKeyDictionary[click.Command, HelpText] = WeakKeyDictionary()


def help_text(
    *examples: str,
    see: tuple[str, ...] = (),
    arguments: Mapping[str, str] | None = None,
    no: str | None = None,
    no_json: str | None = None,
    note: str | None = None,
) -> Callable[[Command], Command]:
    """A decorator that completes the help of a command; it stands above all others."""
    text = HelpText(examples, see, arguments or {}, no, no_json, note)

    def complete(command: Command) -> Command:
        command.epilog = text.epilog()
        for parameter in command.params:
            if isinstance(parameter, click.Argument) and parameter.help is None:
                name = str(parameter.name)
                parameter.help = text.arguments.get(name, ARGUMENTS.get(name))
        _TEXTS[command] = text
        return command

    return complete


def help_text_of(command: click.Command) -> HelpText | None:
    """What the help of a command shows beside its options, if anything was said."""
    return _TEXTS.get(command)
