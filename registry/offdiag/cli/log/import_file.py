"""Logging what a file of another tool has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import option_of
from offdiag.cli.output import busy, note, print_json, printable
from offdiag.errors import OffdiagError

if TYPE_CHECKING:
    from offdiag.importers import Imported
    from offdiag.sdk.run import Run


def import_file(dialect: str, file: Path, *, as_json: bool, **given: Any) -> None:
    """Log what a file of another tool has, and report how it was read.

    `given` are what the dialect takes and the arguments of `log_imported`.
    """
    from offdiag.importers import DIALECTS, read
    from offdiag.sdk.logging import log_imported

    stated = {name: given.pop(name) for name in DIALECTS[dialect].takes}
    try:
        with busy(f"Importing {file.name}"):
            found = read(dialect, file, **stated)
            run = log_imported(found, **given)
    except OffdiagError as error:
        error.field = option_of(error.field)
        raise
    _report(found, run, as_json=as_json)


def _report(found: Imported, run: Run, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "id": run.id,
                "url": run.url,
                "dialect": found.dialect,
                "convention": found.convention,
                "source": str(found.source),
            }
        )
        return
    note(f"Read as {found.dialect}: {found.convention}")
    columns = getattr(found.content, "columns", None)
    if columns is not None:
        note(f"y_true = {printable(columns[0])}, y_pred = {printable(columns[1])}")
    click.echo(f"{run.id} is logged; its page is {run.url}")
