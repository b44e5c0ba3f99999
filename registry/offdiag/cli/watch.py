"""`offdiag watch`: every table of predictions that appears in a folder becomes a run."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import parse_entries, parse_labels, url_option
from offdiag.cli.output import note

if TYPE_CHECKING:
    from offdiag.sdk.run import Run

_LOOK_EVERY_S = 1.0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dataset", required=True, help="Data the models are tried on.")
@click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN")
@click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN")
@click.option("--no-true", is_flag=True, help="The dataset has its ground truth already.")
@click.option("--id", "id_column", metavar="COLUMN", help="Names of the cases.")
@click.option(
    "--score",
    "score_columns",
    multiple=True,
    metavar="COLUMN",
    help="Score of the positive class, or once for each class in the order of --labels.",
)
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--positive", "positive_label", metavar="CLASS", help="Class a single score is for.")
@click.option("--project", help="Project of the runs.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@url_option
def watch(
    *,
    folder: Path,
    true_column: str,
    pred_column: str,
    no_true: bool,
    id_column: str | None,
    score_columns: tuple[str, ...],
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
    from offdiag.errors import DatabaseUnavailable
    from offdiag.sdk.watching import FolderWatch

    columns = {"y_pred": pred_column}
    columns |= {} if no_true else {"y_true": true_column}
    columns |= {} if id_column is None else {"sample_ids": id_column}
    facts |= {"labels": parse_labels(labels), "tags": parse_entries(tags, "tag")}

    def read(file: Path) -> Callable[[str], Run]:
        return _read(file, columns, score_columns, facts)

    scope = f"{facts['project']}\0{facts['dataset']}"
    watched = FolderWatch(folder, read, scope=scope, clock=time.monotonic)
    stopped = _stopped_by_signal()
    note(f"Watching {folder}")
    while not stopped.is_set():
        try:
            for taken in watched.look():
                said = taken.problem if taken.run is None else f"{taken.run.id} is logged"
                click.echo(f"{taken.file.name}: {said}")
        except DatabaseUnavailable as error:
            note(f"{error} Trying again.")
        stopped.wait(_LOOK_EVERY_S)


def _stopped_by_signal() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _read(
    file: Path, columns: dict[str, str], score_columns: tuple[str, ...], facts: dict[str, Any]
) -> Callable[[str], Run]:
    from offdiag.arrays.files import read_columns, stacked_numbers
    from offdiag.sdk.api import log_run

    found = read_columns(file, [*columns.values(), *score_columns])
    arrays: dict[str, Any] = {name: found[column] for name, column in columns.items()}
    if score_columns:
        arrays["y_score"] = stacked_numbers({name: found[name] for name in score_columns})
    return lambda key: log_run(**arrays, **facts, name=file.stem, client_key=key)
