"""A comparison of stored runs as plain values, ready for `json.dumps(..., allow_nan=False)`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.record import many_record, pair_record, verdict_record
from offdiag.comparison.texts import run_label
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.compare import RunComparison
from offdiag.store.compared_runs import ComparedRun


def comparison_record(found: RunComparison) -> dict[str, Any]:
    """Runs, verdict and every number; `refusal` says why there are none."""
    first = found.runs[0]
    verdict = found.verdict
    return {
        "runs": [_run_record(position, run) for position, run in enumerate(found.runs)],
        "project": first.project,
        "dataset": first.dataset,
        "suite_version": SUITE_VERSION,
        "slice": None if found.part is None else str(found.part),
        "on_shared": found.on_shared,
        "samples": None if found.samples is None else asdict(found.samples),
        "refusal": None if found.refusal is None else asdict(found.refusal),
        "verdict": None if verdict is None else verdict_record(verdict),
        "result": _result_record(found),
    }


def _run_record(position: int, run: ComparedRun) -> dict[str, Any]:
    return {
        "letter": run_label(position),
        "id": run.id,
        "name": run.name,
        "model": run.model,
        "author": run.author,
        "git_sha": run.git_sha,
        "params": dict(run.params),
        "tags": dict(run.tags),
        "created_at": run.created_at.isoformat(),
        "truth_version": None if run.truth is None else run.truth.number,
        "has_predictions": run.has_predictions,
        "orientation_verdict": run.orientation_verdict,
    }


def _result_record(found: RunComparison) -> dict[str, Any] | None:
    match found.result:
        case PairComparison():
            return {"kind": "pair", **pair_record(found.result, difference=found.difference)}
        case ManyComparison():
            return {"kind": "many", **many_record(found.result, difference=found.difference)}
        case None:
            return None
