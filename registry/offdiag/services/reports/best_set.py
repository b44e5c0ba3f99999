"""Which runs of a report may be the best by the metric that ranks them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from offdiag.comparison.many import best_by_metric
from offdiag.domain.runs import Task
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.paired.best_runs import cost_contest, metric_contest
from offdiag.metrics.paired.confidence_set import BestSet, Contest, confidence_sets
from offdiag.metrics.paired.runs import PairedRuns
from offdiag.reports.changes import ranked
from offdiag.reports.scope import ReportScope, is_of_costs
from offdiag.reports.snapshot import BestOfManyFigures, BestSetFigures, Snapshot
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.reports.costing import costs_in_scope
from offdiag.store import truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.predictions import in_truth_order
from offdiag.store.session import Session
from offdiag.store.truths import numbered_truth

MOST_CANDIDATES = 50
"""The highest of more runs are the candidates: no other is likely to come out best in a draw."""
MOST_PREDICTIONS = 200_000_000
"""Predictions of all runs together up to which they are compared: a fifth of a gigabyte."""


def with_best_set(
    session: Session, scope: ReportScope, dataset: DatasetRecord, snapshot: Snapshot
) -> Snapshot:
    """The snapshot with the runs that may be the best, where two or more can be paired.

    Of three or more the value of the best is corrected for its having been chosen.
    """
    truth = snapshot.truth
    if truth is None or dataset.task is Task.MULTILABEL or len(snapshot.runs) < 2:
        return snapshot
    if truth.n_samples * len(snapshot.runs) > MOST_PREDICTIONS:
        return snapshot
    version = numbered_truth(session, dataset_id=dataset.id, number=truth.number)
    if version is None:
        return snapshot
    size = len(dataset.labels)
    actual = truths.truth_codes(session, version.id)
    found = in_truth_order(
        session, [run.id for run in snapshot.runs], n_samples=len(actual), n_classes=size
    )
    labelled = actual < size
    codes = {run_id: each[labelled] for run_id, each in found.items()}
    paired = {run_id: each for run_id, each in codes.items() if len(each) and each.max() < size}
    if len(paired) < 2:
        return snapshot
    runs = PairedRuns(actual[labelled], tuple(paired.values()), dataset.labels)
    snapshot = replace(snapshot, best_of_many=_best_of_many(scope, snapshot, runs, tuple(paired)))
    contest = _contest(session, scope, dataset, runs)
    if contest is None:
        return snapshot
    ((sets,),) = confidence_sets([contest], seed=INTERVAL_SEED)
    return replace(snapshot, best_set=_figures(sets, tuple(paired)))


def _best_of_many(
    scope: ReportScope, snapshot: Snapshot, runs: PairedRuns, run_ids: tuple[str, ...]
) -> BestOfManyFigures | None:
    """The best run with its corrected value; None where a candidate cannot be paired."""
    metric = scope.ranking_metric
    ids = [
        run.id for run in ranked(snapshot.runs, metric) if run.metrics[metric].value is not None
    ][:MOST_CANDIDATES]
    if not set(ids) <= set(run_ids):
        return None
    found = best_by_metric(
        runs.actual,
        [runs.predictions[run_ids.index(run_id)] for run_id in ids],
        [metric],
        labels=runs.labels,
        seed=INTERVAL_SEED,
    ).get(metric)
    if found is None:
        return None
    return BestOfManyFigures(ids[found.run], found.n_runs, found.corrected)


def _contest(
    session: Session, scope: ReportScope, dataset: DatasetRecord, runs: PairedRuns
) -> Contest | None:
    """The runs by the metric that ranks them; None for metrics that are not of the matrix."""
    metric = scope.ranking_metric
    if metric in AGGREGATES and AGGREGATES[metric].has_gradient:
        return metric_contest(runs, [metric])
    costs = costs_in_scope(session, scope, dataset) if is_of_costs(metric) else None
    # On the same samples all costs rank alike, but for relative ones that may be undefined.
    if costs is None or metric not in {"mean_cost", "total_cost"}:
        return None
    return cost_contest(runs, costs.costs)


def _figures(sets: BestSet, run_ids: tuple[str, ...]) -> BestSetFigures | None:
    if np.count_nonzero(sets.is_tested) < 2:
        return None
    tested = list(zip(run_ids, sets.is_tested.tolist(), sets.is_in.tolist(), strict=True))
    return BestSetFigures(
        tuple(run_id for run_id, is_tested, is_in in tested if is_tested and is_in),
        tuple(run_id for run_id, is_tested, is_in in tested if is_tested and not is_in),
    )
