"""Output: results to stdout, progress and notes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

import click

from offdiag.domain import number_text
from offdiag.domain.sentences import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from offdiag.domain.values import MetricValue

_WIDTH_IN_FILES = 10_000
"""Width of tables in files and pipes, so that they are not wrapped."""
_WIDTH_OF_INTERVALS = 150


def print_json(value: object) -> None:
    """Print a JSON document, with full precision and no NaN; in ASCII if the output needs it."""
    is_ascii = not is_unicode(sys.stdout)
    click.echo(json.dumps(value, indent=2, ensure_ascii=is_ascii, allow_nan=False))


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream can encode every character."""
    return (stream.encoding or "utf-8").lower().startswith("utf")


def print_tables(*tables: RenderableType) -> None:
    """Print tables for people, as wide as the terminal."""
    console = _results()
    for table in tables:
        console.print(table)


def fits_intervals() -> bool:
    """Whether a line has room for four numbers with their intervals."""
    return _results().width >= _WIDTH_OF_INTERVALS


def _results() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH_IN_FILES
    return Console(width=width, highlight=False, no_color=_without_color())


def _progress() -> Console:
    from rich.console import Console

    return Console(stderr=True, no_color=_without_color())


def _without_color() -> bool | None:
    """True if --no-color was given; otherwise None, and NO_COLOR decides."""
    context = click.get_current_context(silent=True)
    return True if context is not None and context.color is False else None


def note(text: str) -> None:
    """Print a sentence for the user that is not part of the result.

    If it cannot be written, as on a full disk, the command goes on, and its exit code stays.
    """
    with suppress(OSError):
        click.echo(text, err=True)


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show that something is in progress, on a terminal."""
    console = _progress()
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


@contextmanager
def counted(text: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar over `total` steps; the yielded function ends a step, named by its argument.

    Without a terminal, each step is a line instead.
    """
    console = _progress()
    if not console.is_terminal:
        numbers = iter(range(1, total + 1))
        yield lambda step: note(f"{text} {next(numbers, total)}/{total}: {step}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn(text),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[step]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(text, total=total, step="")
        yield lambda step: progress.update(task, advance=1, step=step)


@contextmanager
def measured(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal; the yielded function takes the steps done and their total."""
    console = _progress()
    if not console.is_terminal:
        yield lambda _done, _total: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(text, markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


_COUNTS = frozenset(
    {
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "support",
        "predicted",
    }
)


def label(text: str) -> str:
    """A class name, in quotes if it is empty or begins or ends with a space."""
    shown = visible(text)
    return repr(shown) if shown != shown.strip() or not shown else shown


def number(key: str, value: MetricValue, *, with_interval: bool = True) -> str:
    """Three decimals with the interval, a count as an integer, or why there is no number."""
    if value.value is None:
        return value.undefined_text
    if key in _COUNTS and value.value.is_integer():
        return f"{value.value:.0f}"
    if not with_interval or value.ci_low is None or value.ci_high is None:
        return three_decimals(value.value)
    ends = (three_decimals(end) for end in (value.ci_low, value.ci_high))
    return f"{three_decimals(value.value)} [{', '.join(ends)}]"


def three_decimals(value: float) -> str:
    """Three decimals; ">0.999" for values just below 1."""
    return number_text.number(value, decimals_from_100=3).replace(number_text.MINUS, "-")
