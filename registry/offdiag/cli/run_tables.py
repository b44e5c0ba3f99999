"""Stored runs and their evaluations as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import evaluation_tables, facts_table, open_table
from offdiag.cli.text import label, number, printable
from offdiag.domain.runs import decision_text
from offdiag.metrics.counted import CountedSets
from offdiag.records.run import plain_results, run_document
from offdiag.sdk.evaluations.evaluation import sets_dict
from offdiag.services.runs import ALL_KEYS, HISTORY_KEYS, HistoryEntry
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.run_page import RunDetail, RunHeader, RunResults
from offdiag.store.run_rows import RunEntry


def detail_dict(detail: RunDetail) -> dict[str, Any]:
    """Everything about one run for programs; without results, `metrics` is None."""
    results = detail.results
    document = {**run_document(detail).plain(), **plain_results(results)}
    return document if results is None else document | _counts_json(results)


def slice_dict(part: StoredEvaluation) -> dict[str, Any]:
    """The evaluation of a slice for programs."""
    return {
        "id": part.run_id,
        "slice": part.slice,
        "n": part.counted.total,
        "n_unlabelled": part.n_cases - part.counted.total,
        **_values_dict(part),
        "computed_at": time_text(part.computed_at),
        "engine_version": part.engine_version,
        "suite_version": part.suite_version,
    }


def _counts_json(results: RunResults) -> dict[str, Any]:
    """The matrix, or what was counted of sets of labels, and the values of every class."""
    counted = results.counted
    shown: dict[str, Any] = {
        "per_class": {
            key: [value.to_dict() for value in values] for key, values in results.per_class.items()
        }
    }
    if isinstance(counted, CountedSets):
        return shown | {"confusion_matrix": None, "sets": sets_dict(counted)}
    return shown | {
        "confusion_matrix": {
            "labels": list(counted.labels.names),
            "orientation": "actual_rows",
            "axes": ["actual", "predicted"],
            "matrix": counted.counts.tolist(),
        }
    }


def _values_dict(evaluated: StoredEvaluation) -> dict[str, Any]:
    counted = evaluated.counted
    return {
        "labels": list(counted.labels.names),
        "orientation": "actual_rows",
        "matrix": None if isinstance(counted, CountedSets) else counted.counts.tolist(),
        **(sets_dict(counted) if isinstance(counted, CountedSets) else {}),
        "aggregate": {key: value.to_dict() for key, value in evaluated.aggregate.items()},
        "per_class": {
            key: [value.to_dict() for value in values]
            for key, values in evaluated.per_class.items()
        },
    }


def time_text(moment: datetime | None) -> str | None:
    """An instant as ISO 8601 to the second."""
    return None if moment is None else moment.isoformat(timespec="seconds")


_LISTED = {"accuracy": "overall_accuracy", "balanced": "balanced_accuracy", "MCC": "mcc"}


def run_table(entries: Sequence[RunEntry], *, with_intervals: bool) -> Table:
    """One line for each run: accuracy next to the metrics that show what it hides."""
    caption = "Brackets: 95 % CI." if with_intervals else None
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
    facts = {"slice": part.slice or "", "examples": coverage(part.counted.total, n_unlabelled)}
    yield facts_table(f"Slice of run {part.run_id}", facts)
    yield from evaluation_tables(part.counted, part.aggregate, part.per_class)


def coverage(n_labelled: int, n_unlabelled: int) -> str:
    """The number of labelled examples, and of all where some have no label."""
    if n_unlabelled == 0:
        return str(n_labelled)
    return f"{n_labelled} of {n_labelled + n_unlabelled}"


def _facts(detail: RunDetail) -> dict[str, str]:
    run = detail.run
    facts = {
        "name": run.name,
        "project": run.project,
        "dataset": _dataset(run),
        "model": run.model,
        "state": run.state.value,
        "predictions": str(run.n_predictions),
        "evaluated": _evaluated(detail.results),
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


def _evaluated(results: RunResults | None) -> str | None:
    """Examples and label version of the evaluation."""
    if results is None or results.facts.truth_number is None:
        return None
    n_cases = coverage(results.facts.n_cases, results.facts.n_unlabelled)
    return f"{n_cases} examples, label version {results.facts.truth_number}"


def _dataset(run: RunHeader) -> str:
    version = "" if run.truth is None else f", logged with label version {run.truth.number}"
    return f"{run.dataset} ({run.task.value}, {len(run.labels)} classes{version})"


def _entries(entries: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()
    )


_HEADINGS = {
    "overall_accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "mcc": "MCC",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset acc.",
    "hamming_loss": "Hamming",
    "example_jaccard": "Jaccard",
}


def history_table(entries: Sequence[HistoryEntry]) -> Table:
    """One line for each evaluation, oldest first."""
    table = open_table(caption="* marks the current evaluation.")
    known = {key for entry in entries for key in entry.evaluation.metrics}
    keys = [key for key in ALL_KEYS if key in known] or HISTORY_KEYS
    for name in ("computed", "slice", "examples", *(_HEADINGS[key] for key in keys)):
        table.add_column(name)
    table.add_column("what changed", overflow="fold")
    for entry in entries:
        past = entry.evaluation
        mark = " *" if past.is_current else ""
        table.add_row(
            past.computed_at.isoformat(sep=" ", timespec="seconds") + mark,
            Text(printable(past.slice or "all")),
            coverage(past.n_labelled, past.n_cases - past.n_labelled),
            *(
                number(key, past.metrics[key], with_interval=False) if key in past.metrics else ""
                for key in keys
            ),
            Text("; ".join(entry.differences)),
        )
    return table
