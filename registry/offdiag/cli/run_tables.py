"""Stored runs as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.evaluation_tables import evaluation_tables
from offdiag.cli.run_json import time_text
from offdiag.cli.tables import facts_table, open_table
from offdiag.cli.text import label, number, printable
from offdiag.domain.runs import decision_text
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.run_page import RunDetail, RunHeader, RunResults
from offdiag.store.run_rows import RunEntry

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
            coverage(entry.n_cases, entry.n_unlabelled),
            *_numbers(entry, with_intervals=with_intervals),
        )
    return table


def _numbers(entry: RunEntry, *, with_intervals: bool) -> list[Text]:
    """The listed metrics and the worst class; before there are any, the state of the run."""
    if not entry.is_evaluated:
        return [Text(entry.state.value, style="italic")]
    shown = [
        number(key, entry.metrics[key], with_interval=with_intervals)
        if key in entry.metrics
        else ""  # Sets of labels have none of them.
        for key in _LISTED.values()
    ]
    worst = entry.worst_class
    if worst is not None:
        recall = number("recall", worst.recall, with_interval=with_intervals)
        shown.append(f"{label(worst.label)}: {recall}")
    return [Text(text) for text in shown]


def detail_tables(detail: RunDetail) -> Iterable[Table]:
    """Everything about one run for people."""
    yield facts_table(f"Run {detail.run.id}", _facts(detail))
    results = detail.results
    if results is not None:
        yield from evaluation_tables(results.counted, results.aggregate, results.per_class)


def slice_tables(part: StoredEvaluation) -> Iterable[Table]:
    """The evaluation of a slice for people."""
    n_unlabelled = part.n_cases - part.counted.total
    facts = {"slice": part.slice or "", "cases": coverage(part.counted.total, n_unlabelled)}
    yield facts_table(f"Slice of run {part.run_id}", facts)
    yield from evaluation_tables(part.counted, part.aggregate, part.per_class)


def coverage(n_scored: int, n_unlabelled: int) -> str:
    """How many cases the numbers are of, and of how many where some wait for a label."""
    if n_unlabelled == 0:
        return str(n_scored)
    return f"{n_scored} of {n_scored + n_unlabelled}"


def _facts(detail: RunDetail) -> dict[str, str]:
    run = detail.run
    facts = {
        "name": run.name,
        "project": run.project,
        "dataset": _dataset(run),
        "model": run.model,
        "state": run.state.value,
        "predictions": str(run.n_predictions),
        "scored": _scored(detail.results),
        "orientation": f"{run.source.value} ({run.orientation_verdict})"
        if run.orientation_verdict
        else run.source.value,
        "params": _entries(run.params),
        "tags": _entries(run.tags),
        "author": run.author,
        "commit": run.git_sha,
        "derived from": None
        if run.derivation is None
        else f"the scores of {run.derivation.run_id}, by {run.derivation.recipe.get('rule')}",
        "predicted": None if run.decision is None else printable(decision_text(run.decision)),
        "logged": time_text(run.created_at),
        "error": None if detail.work is None else detail.work.error,
    }
    return {name: value for name, value in facts.items() if value}


def _scored(results: RunResults | None) -> str | None:
    """Cases and truth that the numbers are of."""
    if results is None or results.facts.truth_number is None:
        return None
    n_cases = coverage(results.facts.n_cases, results.facts.n_unlabelled)
    return f"{n_cases} cases with truth version {results.facts.truth_number}"


def _dataset(run: RunHeader) -> str:
    version = "" if run.truth is None else f", logged with truth version {run.truth.number}"
    return f"{run.dataset} ({run.task.value}, {len(run.labels)} classes{version})"


def _entries(entries: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()
    )
