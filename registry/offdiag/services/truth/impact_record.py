"""What a correction did, for machines: every run by every metric, in full precision."""

from __future__ import annotations

from typing import Any

from offdiag.services.truth.impact import MovedRun, TruthImpact
from offdiag.store.truth_impact import ScoredRun


def impact_record(impact: TruthImpact) -> dict[str, Any]:
    """The dataset, the number of labels that differ, and the runs on both sides."""
    beyond = values_beyond(impact)
    return {
        "project": impact.dataset.project,
        "dataset": impact.dataset.name,
        "n_changed_labels": None if impact.difference is None else len(impact.difference),
        "runs": [_run_record(moved, beyond, impact.metrics) for moved in impact.moved],
        "waiting": [_name_record(run) for run in impact.waiting],
        "failed": [_name_record(run) for run in impact.failed],
        "only_scored_since": [_name_record(run) for run in impact.new],
        "is_cut": impact.is_cut,
    }


def values_beyond(impact: TruthImpact) -> set[tuple[str, str]]:
    """Run and metric of every value that left the interval it had before."""
    return {(change.run_id, change.metric) for change in impact.beyond}


def _run_record(
    moved: MovedRun, beyond: set[tuple[str, str]], metrics: tuple[str, ...]
) -> dict[str, Any]:
    return {
        **_name_record(moved.run),
        "truth_before": moved.before.truth_number,
        "truth_after": moved.after.truth_number,
        "n_labelled_before": moved.before.n_labelled,
        "n_labelled_after": moved.after.n_labelled,
        "metrics": {
            metric: {
                "before": moved.values_of(metric)[0].to_dict(),
                "after": moved.values_of(metric)[1].to_dict(),
                "difference": moved.difference_of(metric),
                "is_beyond_interval": (moved.run.id, metric) in beyond,
                "rank_before": moved.places[metric][0],
                "rank_after": moved.places[metric][1],
            }
            for metric in metrics
        },
    }


def _name_record(run: ScoredRun) -> dict[str, Any]:
    return {"id": run.id, "name": run.name}
