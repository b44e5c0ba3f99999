"""`offdiag log`, `watch` and `sync`: log files, folders and the offline queue as runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, Shown, answerable, registry_options
from offdiag.cli.file_input import PredictionColumns, prediction_columns
from offdiag.cli.options import (
    given_twice,
    help_text,
    json_option,
    labels_option,
    orientation_option,
    parse_entries,
    parse_labels,
    parse_tags,
    run_name_option,
    sets_option,
    tag_option,
    url_option,
)
from offdiag.cli.output import busy, note, print_json
from offdiag.domain.sentences import listed

if TYPE_CHECKING:
    from offdiag.sdk.remote.sync import SyncedRun
    from offdiag.sdk.run import Run
    from offdiag.sdk.watch import FolderWatch


@help_text(
    "log predictions.csv --name xgb-17 --dataset holdout --score p --positive ill",
    "log matrix.csv --matrix --orientation actual_rows --name paper --dataset holdout",
    see=("evaluate", "import sklearn", "runs show"),
    arguments={"file": "CSV, Parquet, JSON lines or Arrow."},
)
@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@run_name_option
@click.option("--dataset", required=True, help="Dataset that the model was evaluated on.")
@prediction_columns
@sets_option
@click.option("--matrix", "is_matrix", is_flag=True, help="FILE contains a confusion matrix.")
@orientation_option
@click.option(
    "--reported",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Metric that was published with the matrix; may be repeated.",
)
@labels_option
@click.option("--ordinal", is_flag=True, help="The classes are ordinal, in the order of --labels.")
@click.option(
    "--positive", "positive_label", metavar="CLASS", help="Class that a single score is for."
)
@click.option("--project", help="Project of the run.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="Parameter of the run; may be repeated.",
)
@tag_option
@click.option(
    "--key",
    "client_key",
    help="Idempotency key: repeating the call returns the run that the first call stored.",
)
@click.option(
    "--unique-name",
    is_flag=True,
    help="Refuse a name that another run of the dataset already has.",
)
@url_option
@json_option
def log(
    *,
    file: Path,
    is_matrix: bool,
    of_sets: bool,
    orientation: str | None,
    labels: str | None,
    ordinal: bool,
    as_json: bool,
    columns: PredictionColumns,
    positive_label: str | None,
    params: tuple[str, ...],
    tags: tuple[str, ...],
    reported: tuple[str, ...],
    **facts: Any,
) -> None:
    """Log the predictions or the confusion matrix in FILE as a run.

    FILE can have any format that `offdiag evaluate` reads. The run is evaluated by the worker,
    which `offdiag serve` includes.
    """

    facts |= {
        "labels": parse_labels(labels),
        "ordinal": ordinal,
        "params": parse_entries(params, "param"),
        "tags": parse_tags(tags),
    }
    with answerable(), busy(f"Logging {file.name}"):
        if is_matrix or file.suffix.lower() == ".json":
            run = _log_matrix(file, orientation, facts | {"reported": _reported(reported)})
        elif reported:
            raise click.UsageError("--reported is for a matrix without its predictions.")
        else:
            run = _log_predictions(
                file,
                columns,
                facts | {"positive_label": positive_label},
                of_sets=of_sets,
            )
    if as_json:
        print_json({"id": run.id, "url": run.url})
        return
    click.echo(_logged(run, facts["name"] or file.name))
    unread = [] if is_matrix or file.suffix.lower() == ".json" else columns.unread(file)
    if unread:
        names = listed([repr(name) for name in unread])
        note(f"Note: Not read from the file: {names}. --id, --score and --weight name columns.")


def _logged(run: Run, name: str) -> str:
    unlogged = _unlogged(run)
    if unlogged is not None:
        return f"{name!r} {unlogged}"
    return f"{run.id} is logged; its page is {run.url}"


def _unlogged(run: Run) -> str | None:
    from offdiag.sdk.disabled import RUN_ID
    from offdiag.sdk.remote.run import WAITING

    if run.id.startswith(WAITING):
        return "waits in the offline queue; `offdiag sync` sends it."
    return "is not logged, since the mode is 'disabled'." if run.id == RUN_ID else None


def _reported(pairs: tuple[str, ...]) -> dict[str, object] | None:
    """The published numbers as they were typed, so that trailing zeros count as digits."""
    from offdiag.audit.audit import by_metric

    typed: dict[str, str] = {}
    for pair in pairs:
        name, separator, text = pair.rpartition("=")
        if not separator:
            raise click.UsageError(f"--reported {pair!r} is not a pair; write METRIC=VALUE.")
        if name in typed:
            raise given_twice(name, "reported")
        typed[name] = text
    return by_metric(typed) or None


def _log_matrix(file: Path, orientation: str | None, facts: dict[str, Any]) -> Run:
    from offdiag.cli.file_input import read_matrix_input
    from offdiag.sdk.logging import log_matrix

    given = read_matrix_input(file, labels=facts["labels"], orientation=orientation)
    stated = facts | {"labels": given.labels, "orientation": given.orientation}
    return log_matrix(given.matrix, **stated)


def _log_predictions(
    file: Path, columns: PredictionColumns, facts: dict[str, Any], *, of_sets: bool
) -> Run:
    from offdiag.inputs.files.tables import naming_lines
    from offdiag.inputs.label_sets import sets_of_texts
    from offdiag.sdk.logging import log_run

    with naming_lines(file):
        arrays = columns.read(file, labels=facts["labels"], of_sets=of_sets)
        if of_sets:
            arrays |= {
                name: sets_of_texts(arrays[name])
                for name in ("y_true", "y_pred")
                if name in arrays
            }
        return log_run(**arrays, **facts)


_LOOK_EVERY_S = 1.0


@help_text(
    "watch results/ --dataset holdout --id image --labels nv,mel,df",
    see=("log", "import sklearn"),
    arguments={"folder": "Folder that other programs write to."},
    no_json="it works until Ctrl-C",
)
@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dataset", required=True, help="Dataset that the models are evaluated on.")
@prediction_columns
@labels_option
@click.option(
    "--positive", "positive_label", metavar="CLASS", help="Class that a single score is for."
)
@click.option("--project", help="Project of the runs.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@tag_option
@url_option
def watch(
    *,
    folder: Path,
    columns: PredictionColumns,
    labels: str | None,
    tags: tuple[str, ...],
    **facts: Any,
) -> None:
    """Log every file of predictions in FOLDER as a run, until Ctrl-C.

    A file is logged when it is complete: it has not changed for 2 seconds, and its last line is
    terminated. It becomes one run, named after the file. The same content is logged only once,
    even after a restart. Errors are written to FILE.error.txt, and the file is read again when it
    changes. Files whose names begin with a dot are ignored, so you can write to such a file and
    then rename it.
    """
    from offdiag.sdk.watch import FolderWatch
    from offdiag.signals import acting_on_signals

    facts |= {"labels": parse_labels(labels), "tags": parse_tags(tags)}

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
            run = taken.run
            said = taken.problem if run is None else _unlogged(run) or f"{run.id} is logged"
            click.echo(f"{taken.file.name}: {said}")
    except DatabaseUnavailable as error:
        note(f"{error} Trying again.")


def _read(file: Path, columns: PredictionColumns, facts: dict[str, Any]) -> Callable[[str], Run]:
    from offdiag.inputs.files.tables import naming_lines
    from offdiag.sdk.logging import log_run

    log = naming_lines(file)(log_run)
    with naming_lines(file):
        arrays = columns.read(file, labels=facts["labels"])
    return lambda key: log(**arrays, **facts, name=file.stem, client_key=key)


@help_text(
    "sync",
    "sync --spool spool --url http://127.0.0.1:8642 --json",
    "sync --discard 5c1f0a7e93d2b8466fa03d1e",
    see=("log", "runs list"),
    no="a run is left in the queue",
    note="What the registry refuses stays in the queue, with the reason in its refused.json, and "
    "is not sent again. Log it again corrected, or use --retry; --discard removes it.",
)
@click.command()
@click.option(
    "--spool",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the queue.  [default: OFFDIAG_SPOOL, else the configured one]",
)
@click.option("--retry", is_flag=True, help="Send again what was refused, too.")
@click.option(
    "--discard",
    "discarded",
    multiple=True,
    metavar="FOLDER",
    help="Refused run or content to remove from the queue; may be repeated.",
)
@registry_options
@click.pass_context
def sync(
    context: click.Context,
    *,
    spool: Path | None,
    retry: bool,
    discarded: tuple[str, ...],
    call: Call,
) -> None:
    """Send the runs and content of samples in the offline queue, each exactly once.

    Whatever the registry has stored is removed from the queue. You can interrupt the command and
    start it again, or run several at once.
    """
    from offdiag.sdk.remote.sync import sync as sync_runs
    from offdiag.sdk.target import destination_at

    settings = call.settings
    folder = Path(settings.client.spool) if spool is None else spool
    with busy("Sending"):
        destination = destination_at(settings.database.url, settings)
        found = list(sync_runs(folder, destination, retries_refused=retry, discarded=discarded))
    n_sent = sum(run.outcome.is_done for run in found)
    n_left = sum(run.outcome.is_left for run in found)
    call.print(
        {
            "spool": str(folder),
            "url": settings.database.url,
            "n_sent": n_sent,
            "n_left": n_left,
            "runs": [run.to_dict() for run in found],
        },
        _shown(folder, found, n_sent=n_sent, n_left=n_left),
    )
    if n_left:
        context.exit(1)


def _shown(folder: Path, found: list[SyncedRun], *, n_sent: int, n_left: int) -> Iterator[Shown]:
    from offdiag.cli.tables import filled_table
    from offdiag.sdk.remote.sync import SyncResult

    if not found:
        yield f"The offline queue {folder} is empty."
        return
    yield f"{n_sent} sent, {n_left} left in {folder}."
    table = filled_table(
        ("name", "project", "chunks", "outcome", "run", "folder", "reason"),
        (
            (
                *(run.name or "", run.project or "", str(run.n_sent), run.outcome.value),
                *(run.run_id or "", run.folder if run.outcome.is_left else "", run.why or ""),
            )
            for run in found
        ),
    )
    for column in table.columns:
        column.overflow = "fold"
    yield table
    if any(run.outcome is SyncResult.REFUSED for run in found):
        yield (
            "What is refused is not sent again. Log it again corrected, or use --retry; "
            "--discard FOLDER removes it from the queue."
        )
