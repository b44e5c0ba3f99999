"""The runs list for machines: the same runs, metrics and order, in full precision."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.services.browse import RunOverview, listed_metrics
from offdiag.store.run_rows import LISTED_METRICS, RunEntry, WorstClass
from offdiag_web.app.exports import Cell
from offdiag_web.urls.filter_line import filter_text
from offdiag_web.urls.run_list import RunListAddress


def run_columns(keys: Sequence[str]) -> tuple[str, ...]:
    """Columns of the CSV of a list whose lines have these metrics."""
    return (
        *("id", "name", "project", "dataset", "truth_version", "model", "state", "author"),
        *("logged_at", "n_cases", "orientation_verdict", "derived_from"),
        *(f"{key}{part}" for key in keys for part in ("", "_ci_low", "_ci_high", "_reason")),
        *("worst_class", "worst_class_recall", "worst_class_found", "worst_class_support"),
    )


RUN_COLUMNS = run_columns(LISTED_METRICS)
"""Those of a list of runs whose cases have one class each."""


def run_list_record(overview: RunOverview, address: RunListAddress) -> dict[str, object]:
    """The page as one JSON document; `next` is the address of the page after it.

    Where not all runs are counted, `total` is None and there are more than `more_than`.
    """
    page = overview.page
    following = None
    if page.following is not None:
        following = RunListAddress(
            address.terms, address.order, address.scale, page.following
        ).url("json")
    return {
        "dataset": overview.scope.name if overview.scope else None,
        "filter": filter_text(address.terms),
        "ignored": [
            {"term": parsed.text, "reason": parsed.problem}
            for parsed in address.terms
            if parsed.problem
        ],
        "sort": {"by": address.order.name, "descending": address.order.descending},
        "total": page.total if page.counts_all else None,
        "more_than": None if page.counts_all else page.total,
        "position": page.position,
        "runs": [entry_record(entry) for entry in page.entries],
        "next": following,
    }


def run_list_rows(overview: RunOverview) -> list[tuple[Cell, ...]]:
    """The page as CSV rows, in the order of the `run_columns` of its metrics."""
    keys = listed_metrics(overview.scope)
    return [entry_row(entry, keys) for entry in overview.page.entries]


def entry_record(entry: RunEntry) -> dict[str, object]:
    """One run for the JSON of a list."""
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
        "logged_at": entry.created_at.isoformat(),
        "n_cases": entry.n_cases,
        "orientation_verdict": entry.orientation_verdict,
        "derived_from": entry.derived_from,
        "metrics": {key: value.to_dict() for key, value in entry.metrics.items()},
        "worst_class": _worst_record(entry.worst_class),
    }


def _worst_record(worst: WorstClass | None) -> dict[str, object] | None:
    if worst is None:
        return None
    return {
        "label": worst.label,
        "found": worst.hits,
        "support": worst.support,
        "recall": worst.recall.to_dict(),
    }


def entry_row(entry: RunEntry, keys: Sequence[str] = LISTED_METRICS) -> tuple[Cell, ...]:
    """One run for the CSV of a list, in the order of the `run_columns` of its metrics."""
    worst = entry.worst_class
    return (
        entry.id,
        entry.name,
        entry.project,
        entry.dataset,
        entry.truth_number,
        entry.model,
        entry.state.value,
        entry.author,
        entry.created_at.isoformat(),
        entry.n_cases,
        entry.orientation_verdict,
        entry.derived_from,
        *(cell for key in keys for cell in _metric_cells(entry, key)),
        *(
            (None, None, None, None)
            if worst is None
            else (worst.label, worst.recall.value, worst.hits, worst.support)
        ),
    )


def _metric_cells(entry: RunEntry, key: str) -> tuple[Cell, ...]:
    value = entry.metrics.get(key)
    if value is None:
        return (None, None, None, None)
    return (value.value, value.ci_low, value.ci_high, value.reason)
