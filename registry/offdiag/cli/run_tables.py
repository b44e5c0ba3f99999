"""Stored runs as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import evaluation_tables, facts_table, open_table
from offdiag.cli.text import label, number, printable
from offdiag.store.queries.run_entries import RunEntry
from offdiag.store.queries.run_page import RunDetail, RunHeader, RunResults

_LISTED = {"accuracy": "overall_accuracy", "balanced": "balanced_accuracy", "MCC": "mcc"}


def run_table(entries: Sequence[RunEntry], *, with_intervals: bool) -> Table:
    """One line for each run: accuracy never without what it may hide."""
    caption = "Brackets hold 95 % intervals." if with_intervals else None
    table = open_table(caption=caption)
    table.add_column("run", no_wrap=True)
    table.add_column("name", overflow="fold")
    table.add_column("dataset", overflow="fold")
    table.add_column("n", justify="right")
    for name in (*_LISTED, "lowest recall"):
        table.add_column(name)
    for entry in entries:
        table.add_row(
            entry.id,
            Text(printable(entry.name)),
            Text(printable(entry.dataset)),
            str(entry.n_cases),
            *_numbers(entry, with_intervals=with_intervals),
        )
    return table


def _numbers(entry: RunEntry, *, with_intervals: bool) -> list[Text]:
    """The listed metrics and the worst class; before there are any, the state of the run."""
    if not entry.metrics:
        return [Text(entry.state.value, style="italic")]
    shown = [
        number(key, entry.metrics[key], with_interval=with_intervals) for key in _LISTED.values()
    ]
    worst = entry.worst_class
    if worst is not None:
        recall = number("recall", worst.recall, with_interval=with_intervals)
        shown.append(f"{label(worst.label)}: {recall}")
    return [Text(text) for text in shown]


def entry_dict(entry: RunEntry) -> dict[str, Any]:
    """A run of a list as JSON."""
    worst = entry.worst_class
    return {
        "id": entry.id,
        "name": entry.name,
        "project": entry.project,
        "dataset": entry.dataset,
        "truth_version": entry.truth_number,
        "model": entry.model,
        "state": entry.state.value,
        "author": entry.author,
        "tags": dict(entry.tags),
        "created_at": _time(entry.created_at),
        "n": entry.n_cases,
        "orientation_verdict": entry.orientation_verdict,
        "aggregate": {key: value.to_dict() for key, value in entry.metrics.items()},
        "worst_class": None
        if worst is None
        else {"label": worst.label, "support": worst.support, "recall": worst.recall.to_dict()},
    }


def detail_tables(detail: RunDetail) -> Iterable[Table]:
    """Everything about one run for people."""
    yield facts_table(f"Run {detail.run.id}", _facts(detail))
    results = detail.results
    if results is not None:
        yield from evaluation_tables(results.matrix, results.aggregate, results.per_class)


def detail_dict(detail: RunDetail) -> dict[str, Any]:
    """Everything about one run for programs; `evaluation` is None until there is one."""
    run = detail.run
    return {
        "id": run.id,
        "name": run.name,
        "project": run.project,
        "dataset": run.dataset,
        "task": run.task.value,
        "labels": list(run.labels.names),
        "positive_label": run.positive_label,
        "truth_version": None if run.truth is None else run.truth.number,
        "model": run.model,
        "state": run.state.value,
        "params": dict(run.params),
        "tags": dict(run.tags),
        "author": run.author,
        "git_sha": run.git_sha,
        "source_orientation": run.source.value,
        "orientation": run.orientation_evidence,
        "n": run.n_predictions,
        "created_at": _time(run.created_at),
        "finished_at": _time(run.finished_at),
        "evaluation": None if detail.results is None else _results_dict(detail.results),
    }


def _results_dict(results: RunResults) -> dict[str, Any]:
    return {
        "labels": list(results.matrix.labels.names),
        "orientation": "actual_rows",
        "matrix": results.matrix.counts.tolist(),
        "aggregate": {key: value.to_dict() for key, value in results.aggregate.items()},
        "per_class": {
            key: [value.to_dict() for value in values] for key, values in results.per_class.items()
        },
        "computed_at": _time(results.facts.computed_at),
        "engine_version": results.facts.engine_version,
        "suite_version": results.facts.suite_version,
    }


def _facts(detail: RunDetail) -> dict[str, str]:
    run = detail.run
    facts = {
        "name": run.name,
        "project": run.project,
        "dataset": _dataset(run),
        "model": run.model,
        "state": run.state.value,
        "predictions": str(run.n_predictions),
        "orientation": f"{run.source.value} ({run.orientation_verdict})"
        if run.orientation_verdict
        else run.source.value,
        "params": _entries(run.params),
        "tags": _entries(run.tags),
        "author": run.author,
        "commit": run.git_sha,
        "logged": _time(run.created_at),
        "error": None if detail.work is None else detail.work.error,
    }
    return {name: value for name, value in facts.items() if value}


def _dataset(run: RunHeader) -> str:
    version = "" if run.truth is None else f", truth version {run.truth.number}"
    return f"{run.dataset} ({run.task.value}, {len(run.labels)} classes{version})"


def _entries(entries: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
