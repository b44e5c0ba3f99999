"""A run for machines: everything its pages show, in full precision."""

from __future__ import annotations

from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.orientation import SourceOrientation
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.class_groups import Grouping
from offdiag_web.presenters.matrix_export import matrix_record
from offdiag_web.urls.matrix import MatrixAddress

AGGREGATE_COLUMNS = ("key", "value", "reason", "limit", "ci_low", "ci_high", "ci_method")


def metadata_record(detail: RunDetail) -> dict[str, object]:
    """What was recorded with the run."""
    run, results = detail.run, detail.results
    return {
        "id": run.id,
        "name": run.name,
        "project": run.project,
        "dataset": run.dataset,
        "task": run.task.value,
        "state": run.state.value,
        "model": run.model,
        "params": dict(run.params),
        "tags": dict(run.tags),
        "author": run.author,
        "git_sha": run.git_sha,
        "logged_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "n_predictions": run.n_predictions,
        "score_columns": run.score_columns,
        "content_digest": run.content_digest,
        "derived_from": None if run.derivation is None else run.derivation.run_id,
        "derivation": None if run.derivation is None else dict(run.derivation.recipe),
        "decision_rule": None if run.decision is None else dict(run.decision),
        "labels": {
            "names": list(run.labels.names),
            "ordinal": run.labels.ordinal,
            "inferred": run.labels.inferred,
            "digest": run.labels.digest,
            "look_alikes": look_alikes(run.labels),
        },
        "positive_label": run.positive_label,
        "positive_by_convention": run.positive_by_convention,
        "hierarchy": None if run.hierarchy is None else run.hierarchy.to_dict(),
        "truth": None
        if run.truth is None
        else {
            "version": run.truth.number,
            "digest": run.truth.digest,
            "n_samples": run.truth.n_samples,
            "class_counts": list(run.truth.class_counts),
        },
        "orientation": {
            "stored": SourceOrientation.ACTUAL_ROWS.value,
            "source": run.source.value,
            "verdict": run.orientation_verdict,
            "evidence": run.orientation_evidence,
        },
        "evaluation": None
        if results is None
        else {
            "truth_version": results.facts.truth_number,
            "n_cases": results.facts.n_cases,
            "n_unlabelled": results.facts.n_unlabelled,
            "suite_version": results.facts.suite_version,
            "engine_version": results.facts.engine_version,
            "input_digest": results.facts.input_digest,
            "matrix_digest": results.facts.matrix_digest,
            "computed_at": results.facts.computed_at.isoformat(),
            "duration_s": results.facts.duration_s,
        },
    }


def run_record(
    detail: RunDetail, address: MatrixAddress, grouping: Grouping | None = None
) -> dict[str, object]:
    """Metadata, aggregates and matrix in one document.

    With groups collapsed in `grouping`, aggregates and matrix are those of what is left.
    """
    results = detail.results
    work = detail.work
    return {
        **metadata_record(detail),
        "work": None
        if work is None
        else {"id": work.id, "state": work.state, "attempts": work.attempts, "error": work.error},
        "aggregate": None
        if results is None
        else {key: value.to_dict() for key, value in results.aggregate.items()},
        "costs": None if results is None or results.costs is None else results.costs.to_dict(),
        "confusion_matrix": None
        if results is None
        else matrix_record(results.matrix, address, grouping),
    }


def aggregate_rows(results: RunResults) -> list[tuple[Cell, ...]]:
    """All aggregates as CSV rows, in the order of `AGGREGATE_COLUMNS`."""
    return [
        (key, v.value, v.reason, v.limit, v.ci_low, v.ci_high, v.ci_method)
        for key, v in sorted(results.aggregate.items())
    ]
