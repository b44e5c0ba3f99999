"""Reads the columns of a file that are named by options of the running command."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.inputs.files.checks import FileColumn


def read_named(
    file: Path,
    names: Sequence[str],
    *,
    empty_text: Collection[str] = (),
    with_gaps: Collection[str] = (),
) -> dict[str, FileColumn]:
    """The named columns of a table file.

    Raises `InvalidInput` as `read_columns` does; if the file lacks a column, the error names the
    option for it.
    """
    from offdiag.inputs.files.checks import no_column
    from offdiag.inputs.files.tables import column_names, read_columns

    try:
        return read_columns(file, names, empty_text=empty_text, with_gaps=with_gaps)
    except InvalidInput:
        present = column_names(file)
        missing = next((name for name in names if name not in present), None)
        option = None if missing is None else _option_that_names(missing)
        if missing is None or option is None:
            raise
        raise no_column(missing, present, file, option=option) from None


def _option_that_names(column: str) -> str | None:
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.metavar == "COLUMN" and column in (
            value if isinstance(value, tuple) else [value]
        ):
            return parameter.opts[0] + _instead(parameter, context.command)
    return None


def _instead(missing: click.Parameter, command: click.Command) -> str:
    """How to do without the column of predictions, where the command can."""
    if missing.name != "pred_column" or not any(each.name == "no_pred" for each in command.params):
        return ""
    return ", or give --no-pred if scores decide the predictions"
