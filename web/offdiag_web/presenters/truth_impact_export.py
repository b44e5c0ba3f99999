"""What a correction did, for machines: every run by every metric, in full precision."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.services.browse_impact import MovedRun, TruthImpact
from offdiag.store.queries.truth_impact import ScoredRun
from offdiag_web.exports import Cell
from offdiag_web.presenters.differences import METRIC_TITLES
from offdiag_web.presenters.impact_sentence import impact_sentence
from offdiag_web.presenters.truth_impact import values_of

IMPACT_COLUMNS = (
    *("run", "name", "metric", "before", "before_ci_low", "before_ci_high", "after"),
    *("difference", "is_beyond_interval", "rank_before", "rank_after"),
)


def impact_record(impact: TruthImpact, metric: str) -> dict[str, object]:
    """The impact with the sentence of the page."""
    beyond = _beyond(impact)
    return {
        "project": impact.dataset.project,
        "dataset": impact.dataset.name,
        "truth_version": impact.version.number,
        "corrects": None if impact.parent is None else impact.parent.number,
        "sentence": impact_sentence(impact, metric),
        "n_changed_labels": None if impact.difference is None else len(impact.difference),
        "runs": [_run_record(moved, beyond) for moved in impact.moved],
        "waiting": [_name_record(run) for run in impact.waiting],
        "failed": [_name_record(run) for run in impact.failed],
        "only_scored_since": [_name_record(run) for run in impact.new],
        "is_cut": impact.is_cut,
    }


def impact_rows(impact: TruthImpact) -> Iterator[tuple[Cell, ...]]:
    """One line per run and metric; undefined values are empty."""
    beyond = _beyond(impact)
    for moved in impact.moved:
        for metric in METRIC_TITLES:
            before, after = values_of(moved, metric)
            yield (
                moved.run.id,
                moved.run.name,
                metric,
                before.value,
                before.ci_low,
                before.ci_high,
                after.value,
                _difference(moved, metric),
                int((moved.run.id, metric) in beyond),
                *moved.places[metric],
            )


def _run_record(moved: MovedRun, beyond: set[tuple[str, str]]) -> dict[str, object]:
    return {
        **_name_record(moved.run),
        "truth_before": moved.before.truth_number,
        "truth_after": moved.after.truth_number,
        "n_labelled_before": moved.before.n_labelled,
        "n_labelled_after": moved.after.n_labelled,
        "metrics": {
            metric: {
                "before": values_of(moved, metric)[0].to_dict(),
                "after": values_of(moved, metric)[1].to_dict(),
                "difference": _difference(moved, metric),
                "is_beyond_interval": (moved.run.id, metric) in beyond,
                "rank_before": moved.places[metric][0],
                "rank_after": moved.places[metric][1],
            }
            for metric in METRIC_TITLES
        },
    }


def _name_record(run: ScoredRun) -> dict[str, object]:
    return {"id": run.id, "name": run.name}


def _difference(moved: MovedRun, metric: str) -> float | None:
    before, after = values_of(moved, metric)
    if before.value is None or after.value is None:
        return None
    return after.value - before.value


def _beyond(impact: TruthImpact) -> set[tuple[str, str]]:
    return {(change.run_id, change.metric) for change in impact.beyond}
