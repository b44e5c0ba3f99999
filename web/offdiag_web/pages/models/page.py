"""All runs of one model over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, jsonify, make_response, render_template
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.domain.runs import Task
from offdiag.flags.warning import named
from offdiag.records.runs.run_list import entry_row, run_columns, run_summary
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list_by_dataset import all_runs_of_model, runs_of_model
from offdiag.store.run_rows import LISTED_METRICS, LISTED_OF_SETS, RunEntry
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import csv_response
from offdiag_web.charts.svg import Scale
from offdiag_web.charts.trend import trend
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, ClassWords, class_words
from offdiag_web.components.datasets import runs_of_dataset_url
from offdiag_web.components.metric_values import Notes, ShownValue, extent_of, interval_text, shown
from offdiag_web.components.runs.rows import (
    MetricColumn,
    column_scale,
    drawn_together,
    found_text,
    metric_column,
    run_state,
)
from offdiag_web.urls.datasets import DatasetAddress, ModelAddress
from offdiag_web.urls.filter_line import quoted, runs_where
from offdiag_web.urls.query_string import named_project
from offdiag_web.urls.run import run_url

_COLUMNS = ("overall_accuracy", "balanced_accuracy", "mcc")
_COLUMNS_OF_SETS = ("subset_accuracy", "macro_f1", "example_jaccard")


@dataclass(frozen=True, slots=True)
class ModelOnDataset:
    """The runs of the model on one dataset, newest first in the table."""

    title: str
    runs_url: str
    n_runs: str
    words: ClassWords
    columns: tuple[str, ...]
    trends: tuple[tuple[str, Markup], ...]
    not_drawn: str
    rows: tuple[RunRow, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `state` takes the place of the metrics of a run that has none."""

    run: RunEntry
    url: str
    state: Chip | None
    metrics: tuple[tuple[ShownValue, str | None], ...]
    worst: tuple[str, str] | None


def _on_dataset(
    model: str,
    dataset: DatasetFacts,
    runs: Sequence[RunEntry],
    *,
    notes: Notes,
    now: datetime,
) -> ModelOnDataset:
    words, (drawn, not_drawn) = class_words(dataset.task), drawn_together(runs)
    keys = _COLUMNS_OF_SETS if dataset.task is Task.MULTILABEL else _COLUMNS
    columns = [(column, column_scale(column, runs, "fit")) for column in map(metric_column, keys)]
    return ModelOnDataset(
        title=" / ".join(filter(None, (named_project(dataset.project), dataset.name))),
        runs_url=runs_of_dataset_url(
            DatasetAddress(dataset.project, dataset.name), f"model:{quoted(model)}"
        ),
        n_runs=numbers.plural(len(runs), "run"),
        words=words,
        columns=tuple(column.title for column, _ in columns),
        trends=tuple(_trend(*column, drawn) for column in columns) if len(drawn) > 1 else (),
        not_drawn=not_drawn,
        rows=tuple(
            _row(run, keys, notes, url=run_url(run.id), state=run_state(run, now=now))
            for run in reversed(runs)
        ),
    )


def _row(
    run: RunEntry, keys: Sequence[str], notes: Notes, *, url: str, state: Chip | None
) -> RunRow:
    if state is not None:
        return RunRow(run, url, state, (), None)
    values, worst = [run.metrics.get(key) for key in keys], run.worst_class
    return RunRow(
        run,
        url,
        state,
        tuple(
            (shown(each, notes), None if each is None else interval_text(each)) for each in values
        ),
        None if worst is None else (named(worst.label, longest=18), found_text(worst)),
    )


def _trend(column: MetricColumn, scale: Scale, runs: Sequence[RunEntry]) -> tuple[str, Markup]:
    values = [run.metrics.get(column.key) for run in runs]
    extents = [extent_of(value) for value in values]
    known = [extent.estimate for extent in extents if extent is not None]
    name = f"{column.title} of {numbers.plural(len(runs), 'run')}, oldest first"
    if known:
        first, last = numbers.metric(known[0]), numbers.metric(known[-1])
        name += f": from {first} to {last}; the table has every value"
    return (column.title, trend(extents, scale=scale, name=name))


blueprint = Blueprint("models", __name__)


@blueprint.get("/models/<name:name>")
def page(name: str) -> Response:
    database = current_registry().database
    with database.read() as session:
        model = runs_of_model(session, name)
    now = database.clock()
    notes = Notes()
    datasets = tuple(
        _on_dataset(model.name, *on_dataset, notes=notes, now=now)
        for on_dataset in model.by_dataset
    )
    shown = sum(len(runs) for _, runs in model.by_dataset)
    is_whole = shown == model.total
    newest = "" if is_whole else f", the newest {numbers.count(shown)} are shown"
    runs = numbers.plural(model.total, "run")
    html = render_template(
        "models/page.html",
        name=model.name,
        address=ModelAddress(model.name),
        subtitle=f"{runs} on {numbers.plural(len(datasets), 'dataset')}{newest}",
        all_url=None if is_whole else runs_where(f"model:{quoted(model.name)}"),
        datasets=datasets,
        notes=tuple(notes.texts),
    )
    return make_response(html)


@blueprint.get(f"/models/<name:name>{DATA_FORMAT}")
def export(name: str, form: str) -> Response:
    """JSON has the newest runs and says how many there are; CSV has all runs."""
    with current_registry().database.read() as session:
        read = all_runs_of_model if form == "csv" else runs_of_model
        model = read(session, name)
    runs = [run for _, on_dataset in model.by_dataset for run in on_dataset]
    if form == "json":
        return jsonify(
            {
                "model": name,
                "total": model.total,
                "runs": [run_summary(run).plain() for run in runs],
            }
        )
    has_sets = any(dataset.task is Task.MULTILABEL for dataset, _ in model.by_dataset)
    keys = (*LISTED_METRICS, *(LISTED_OF_SETS if has_sets else ()))
    return csv_response("model-runs", run_columns(keys), (entry_row(run, keys) for run in runs))
