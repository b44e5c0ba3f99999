"""Options and help texts shared by commands, and parsing of option values."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import click

from offdiag.errors import InvalidInput

Function = TypeVar("Function", bound=Callable[..., Any])
Command = TypeVar("Command", bound=click.Command)

url_option = click.option(
    "--url",
    metavar="URL",
    is_eager=True,
    help="Registry to use.  [default: OFFDIAG_URL, else the configured one]",
)
"""`--url`: the registry to use, which is read before the names of runs."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
"""`--json`: for programs that read the output."""

sets_option = click.option(
    "--sets",
    "of_sets",
    is_flag=True,
    help="Every example has a set of labels: a list, or text such as sea|sky, empty for the "
    "empty set (`offdiag truth revise` reads an empty cell as unlabelled).",
)
"""`--sets`: both columns contain sets of labels."""


def timeout_option(about: str) -> Callable[[Function], Function]:
    """`--timeout`: how many seconds a command waits."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help=about,
    )


def limit_option(
    about: str, *, default: int = 50, least: int = 1, most: int | None = None
) -> Callable[[Function], Function]:
    """`--limit`: how many lines of a list are shown."""
    return click.option(
        "--limit",
        type=click.IntRange(least, most),
        default=default,
        show_default=True,
        help=about,
    )


id_column_option = click.option(
    "--id",
    "id_column",
    default="id",
    show_default=True,
    metavar="COLUMN",
    help="Column of sample ids.",
)
"""`--id`: the column of a file that has the identifiers of samples."""

labels_option = click.option("--labels", metavar="A,B,…", help="Class names in their order.")
"""`--labels`: the classes in order."""

orientation_option = click.option(
    "--orientation",
    type=click.Choice(["actual_rows", "actual_columns"]),
    help="What the rows of the matrix are, if the file does not say so.",
)
"""`--orientation`: what the rows of a matrix are."""

run_name_option = click.option(
    "--name",
    help="Name of the run.  [default: the model, else the idempotency key, else the time]",
)
"""`--name`: the name of the run that is logged."""

tag_option = click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="KEY=VALUE",
    help="Tag of the run; may be repeated.",
)
"""`--tag`: tags of the runs that are logged."""


def with_options(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """A decorator that adds options and arguments to a command, in the order of its help."""

    def decorated(command: Function) -> Function:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def add_shared_options(command: click.Command) -> None:
    """Add --no-color to a command and its subcommands, only once for repeated lookups."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_shared_options(below)
    elif not any("--no-color" in parameter.opts for parameter in command.params):
        command.params.append(_no_color(hidden=True))


def show_no_color(command: click.Command) -> None:
    """Add --no-color with its help to a command, the one of `offdiag` itself."""
    command.params.append(_no_color(hidden=False))


def _no_color(*, hidden: bool) -> click.Option:
    return click.Option(
        ["--no-color"],
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        callback=_switch_off,
        help="Print no colours; before or after any command. NO_COLOR=1 does the same.",
    )


def _switch_off(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.color = False


@dataclass(frozen=True, slots=True)
class HelpText:
    """Parts of the help of a command besides its options.

    `examples` are command lines without the leading `offdiag`, `see` are paths of other commands.
    `arguments` describes positional arguments by their names in the code, except those in
    `ARGUMENTS`. `no` is the meaning of exit code 1, for commands that have it. `no_json` says why
    a command has no --json, and `note` is any further information.
    """

    examples: tuple[str, ...]
    see: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    no: str | None = None
    no_json: str | None = None
    note: str | None = None

    def epilog(self) -> str:
        """The text below the options, as click wraps it."""
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
    "run_id": "Id of the run, such as r_4bcd6fgh8jkm, or its name.",
    "run_ids": "Ids or names of runs.",
    "dataset": "Name of the dataset.",
    "flag_id": "Number of the flag: 31 or F-31.",
    "ids": "Numbers of flags: 31 or F-31.",
}
"""Arguments that mean the same in all commands."""

_TEXTS: WeakKeyDictionary[click.Command, HelpText] = WeakKeyDictionary()


_ONE_SENTENCE = 1_000


def help_text(
    *examples: str,
    see: tuple[str, ...] = (),
    arguments: Mapping[str, str] | None = None,
    no: str | None = None,
    no_json: str | None = None,
    note: str | None = None,
) -> Callable[[Command], Command]:
    """A decorator that completes the help of a command; it must be the outermost one."""
    text = HelpText(examples, see, arguments or {}, no, no_json, note)

    def complete(command: Command) -> Command:
        command.epilog = text.epilog()
        # The whole sentence: in the list of a group, click would cut it to one line.
        command.short_help = command.get_short_help_str(limit=_ONE_SENTENCE)
        for parameter in command.params:
            if isinstance(parameter, click.Argument) and getattr(parameter, "help", None) is None:
                name = str(parameter.name)
                parameter.help = text.arguments.get(name, ARGUMENTS.get(name))
        _TEXTS[command] = text
        return command

    return complete


def help_text_of(command: click.Command) -> HelpText | None:
    """The help text of a command, if it has one."""
    return _TEXTS.get(command)


class LoadingGroup(click.Group):
    """Suggests a command for a name that does not exist.

    Click looks for similar names among loaded commands, and here none are loaded.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        similar = get_close_matches(name, known, n=1)
        hint = f" Did you mean {similar[0]!r}?" if similar else ""
        raise click.UsageError(f"No such command {name!r}.{hint}", ctx)


def option_of(field: str | None) -> str | None:
    """The option of the running command that sets an argument, or the argument itself."""
    for parameter in click.get_current_context().command.params:
        if isinstance(parameter, click.Option) and parameter.name == field:
            return parameter.opts[0]
    return field


def parse_labels(text: str | None) -> list[str] | None:
    """Class names separated by commas; one that contains a comma is in double quotes."""
    return None if text is None else next(csv.reader([text]))


def parse_entries(pairs: Sequence[str], field: str) -> dict[str, Any]:
    """`key=value` pairs. A value that is a JSON number, true, false or null is converted.

    Raises `InvalidInput` for a text that is no pair, and for a key that is given twice.
    """
    return {key: _value(text) for key, text in _pairs(pairs, field)}


def parse_tags(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs as `parse_entries` reads them, but only numbers written as Python would.

    Others are probably names: the version 1.10 is not 1.1, and 12e4 may begin a commit.
    """
    return {
        key: text if _is_written_otherwise(text) else _value(text)
        for key, text in _pairs(pairs, "tag")
    }


def _is_written_otherwise(text: str) -> bool:
    value = _value(text)
    return isinstance(value, int | float) and json.dumps(value) != text


def _pairs(pairs: Sequence[str], field: str) -> list[tuple[str, str]]:
    """Keys and values, without blanks around the sign."""
    found: dict[str, str] = {}
    for pair in pairs:
        written, separator, text = pair.partition("=")
        if not separator:
            raise InvalidInput(f"{pair!r} is not a pair.", field=field, hint="Write key=value.")
        key = written.strip()
        if key in found:
            raise given_twice(key, field)
        found[key] = text.strip() if written[-1:].isspace() else text
    return list(found.items())


def read_password(*, from_stdin: bool) -> str:
    """Read a password from a prompt or stdin; every user of the machine could read an argument."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    text: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return text


def given_twice(name: str, field: str) -> InvalidInput:
    """The error for a name that is given twice."""
    return InvalidInput(f"{name!r} is given twice.", field=field, hint="Give it once.")


def _value(text: str) -> str | int | float | bool | None:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (int, float, bool, type(None))) else text
