"""`offdiag watch`: every table of predictions that appears in a folder becomes a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import parse_entries, parse_labels, url_option
from offdiag.cli.output import note
from offdiag.cli.prediction_table import PredictionColumns, prediction_columns

if TYPE_CHECKING:
    from offdiag.sdk.run import Run
    from offdiag.sdk.watching import FolderWatch

_LOOK_EVERY_S = 1.0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dataset", required=True, help="Data the models are tried on.")
@prediction_columns
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--positive", "positive_label", metavar="CLASS", help="Class a single score is for.")
@click.option("--project", help="Project of the runs.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@url_option
def watch(
    *,
    folder: Path,
    columns: PredictionColumns,
    labels: str | None,
    tags: tuple[str, ...],
    **facts: Any,
) -> None:
    """Make a run of every table of predictions in FOLDER, until Ctrl-C.

    A file is taken once it is complete: when it did not change for 2 seconds and its last line
    has an end. It becomes one run, named after the file, however often the watch is started; its
    content decides. Why a file cannot be taken is written beside it, into FILE.error.txt, and the
    file is looked at again when it changes. Names that begin with a dot are left alone: write
    to one of those and rename it.
    """
    from offdiag.sdk.watching import FolderWatch
    from offdiag.signals import acting_on_signals

    facts |= {"labels": parse_labels(labels), "tags": parse_entries(tags, "tag")}

    def read(file: Path) -> Callable[[str], Run]:
        return _read(file, columns, facts)

    scope = f"{facts['project']}\0{facts['dataset']}"
    watched = FolderWatch(folder, read, scope=scope, clock=time.monotonic)
    stopped = threading.Event()
    with acting_on_signals(lambda _number: stopped.set()):
        note(f"Watching {folder}")
        while not stopped.is_set():
            _look(watched)
            stopped.wait(_LOOK_EVERY_S)


def _look(watched: FolderWatch) -> None:
    from offdiag.errors import DatabaseUnavailable

    try:
        for taken in watched.look():
            said = taken.problem if taken.run is None else f"{taken.run.id} is logged"
            click.echo(f"{taken.file.name}: {said}")
    except DatabaseUnavailable as error:
        note(f"{error} Trying again.")


def _read(file: Path, columns: PredictionColumns, facts: dict[str, Any]) -> Callable[[str], Run]:
    from offdiag.sdk.api import log_run

    arrays = columns.read(file, labels=facts["labels"])
    return lambda key: log_run(**arrays, **facts, name=file.stem, client_key=key)
