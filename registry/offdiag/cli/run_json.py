"""Stored runs as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from offdiag.domain.look_alikes import look_alikes
from offdiag.metrics.counted import CountedSets
from offdiag.sdk.set_views import sets_dict
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.run_page import RunDetail, RunResults
from offdiag.store.run_rows import RunEntry


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
        "created_at": time_text(entry.created_at),
        "n": entry.n_cases,
        "n_unlabelled": entry.n_unlabelled,
        "orientation_verdict": entry.orientation_verdict,
        "derived_from": entry.derived_from,
        "aggregate": {key: value.to_dict() for key, value in entry.metrics.items()},
        "worst_class": None
        if worst is None
        else {"label": worst.label, "support": worst.support, "recall": worst.recall.to_dict()},
    }


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
        "look_alikes": look_alikes(run.labels),
        "positive_label": run.positive_label,
        "positive_by_convention": run.positive_by_convention,
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
        "created_at": time_text(run.created_at),
        "finished_at": time_text(run.finished_at),
        "derived_from": None if run.derivation is None else run.derivation.run_id,
        "derivation": None if run.derivation is None else dict(run.derivation.recipe),
        "decision_rule": None if run.decision is None else dict(run.decision),
        "evaluation": None if detail.results is None else _results_dict(detail.results),
    }


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


def _results_dict(results: RunResults) -> dict[str, Any]:
    return {
        **_values_dict(results),
        "costs": None if results.costs is None else results.costs.to_dict(),
        "n": results.facts.n_cases,
        "n_unlabelled": results.facts.n_unlabelled,
        "truth_version": results.facts.truth_number,
        "computed_at": time_text(results.facts.computed_at),
        "engine_version": results.facts.engine_version,
        "suite_version": results.facts.suite_version,
    }


def _values_dict(evaluated: RunResults | StoredEvaluation) -> dict[str, Any]:
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
