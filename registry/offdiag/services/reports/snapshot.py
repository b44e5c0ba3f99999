"""Reading the data of a report from the registry, including what its runs' errors cost."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from offdiag.domain.runs import PromotionRole, RunState, Task
from offdiag.domain.texts import CostName
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import Codes
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.custom import custom_suffix, custom_versions
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.reports.changes import ranked
from offdiag.reports.scope import ReportScope, TermField, is_of_costs
from offdiag.reports.snapshot import (
    MOST_FLAGS,
    MOST_RUNS,
    Confusion,
    ConstantPrediction,
    CostFigures,
    LeaderErrors,
    Matrix,
    Revision,
    RunFigures,
    RunName,
    Snapshot,
    TruthFigures,
)
from offdiag.services.cost_matrices import costs_named
from offdiag.services.evaluation.compute import cost_metrics
from offdiag.store import datasets, evaluations, truths
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.outdated import stale_runs
from offdiag.store.predictions import weights_in_truth_order
from offdiag.store.promotions import promotions_in_force
from offdiag.store.report_runs import ScopedRun, firing_flags, run_figures, scoped_runs
from offdiag.store.run_filter import FilterField, FilterTerm, RunFilter
from offdiag.store.truths import TruthRecord
from offdiag.version import offdiag_version


def costs_in_scope(
    session: Session, scope: ReportScope, dataset: DatasetRecord
) -> CostMatrixRecord | None:
    """The current version of the cost matrix that a scope names, None if it names none.

    Raises `NotFound` for an unknown name and `InvalidInput` if the costs are not for the classes
    of the dataset.
    """
    if scope.cost_matrix is None:
        return None
    found = costs_named(session, project=scope.project, wanted=CostName.parse(scope.cost_matrix))
    if dataset.task is Task.MULTILABEL:
        raise InvalidInput(
            f"samples of {dataset.name!r} have several labels, and costs are about one.",
            field="cost_matrix",
            hint="Leave it out.",
        )
    if found.costs.labels.digest != dataset.labels.digest:
        raise InvalidInput(
            f"cost matrix {scope.cost_matrix!r} is for the classes "
            f"{found.costs.labels.preview()}, dataset {dataset.name!r} has "
            f"{dataset.labels.preview()}.",
            field="cost_matrix",
            hint="Name costs for the classes of the dataset.",
        )
    return found


def with_costs(
    database: Database, scope: ReportScope, dataset: DatasetRecord, snapshot: Snapshot
) -> Snapshot:
    """The snapshot with the costs of its runs' errors. Raises like `costs_in_scope`."""
    with database.read() as session:
        found = costs_in_scope(session, scope, dataset)
    if found is None:
        return snapshot
    runs = figures_with_costs(database, snapshot.runs, found.costs)
    best = ranked(runs, scope.ranking_metric)
    constant = None if not best else _constant_prediction(database, best[0], found.costs)
    figures = CostFigures(found.name, found.version, found.costs.currency, constant)
    return replace(snapshot, runs=runs, costs=figures)


def slices_with_costs(
    database: Database, scope: ReportScope, slices: Sequence[RunFigures], costs: CostFigures | None
) -> tuple[RunFigures, ...]:
    """Slices with the costs of their errors, by the same version as for the runs."""
    found = costs_of(database, scope, costs)
    return tuple(slices) if found is None else figures_with_costs(database, slices, found)


def costs_of(
    database: Database, scope: ReportScope, costs: CostFigures | None
) -> CostMatrix | None:
    """The version of a cost matrix that a snapshot uses."""
    if costs is None:
        return None
    with database.read() as session:
        wanted = CostName(costs.name, costs.version)
        return costs_named(session, project=scope.project, wanted=wanted).costs


def figures_with_costs(
    database: Database, runs: Sequence[RunFigures], costs: CostMatrix
) -> tuple[RunFigures, ...]:
    """The runs with costs from the very matrices from which their other values were computed.

    Each is read separately: an interval takes time, and two hundred matrices of many classes take
    memory.
    """
    return tuple(_with_costs(database, run, costs) for run in runs)


def _with_costs(database: Database, run: RunFigures, costs: CostMatrix) -> RunFigures:
    with database.read() as session:
        stored = evaluations.evaluation_of_inputs(session, run.id, run.input_digest)
    if stored is None:
        return run
    values = cost_metrics(stored.counted, costs)
    metrics = {key: values[key] if is_of_costs(key) else run.metrics[key] for key in run.metrics}
    return replace(run, metrics=metrics)


def _constant_prediction(
    database: Database, run: RunFigures, costs: CostMatrix
) -> ConstantPrediction | None:
    with database.read() as session:
        stored = evaluations.evaluation_of_inputs(session, run.id, run.input_digest)
    if stored is None:
        return None
    values = cost_metrics(stored.counted, costs)
    code, cost = values["best_trivial_class"].value, values["best_trivial_cost"].value
    if code is None or cost is None:
        return None
    counted = stored.counted
    total = counted.weights.total if isinstance(counted, WeightedCounts) else counted.total
    return ConstantPrediction(costs.labels.names[round(code)], cost / total)


LARGEST_MATRIX = 15
"""Most classes of a matrix that is printed completely."""
MOST_CONFUSIONS = 10

_FIELDS = {
    TermField.MODEL: FilterField.MODEL,
    TermField.NAME: FilterField.NAME,
    TermField.TAG: FilterField.TAG,
}


def read_snapshot(
    session: Session, scope: ReportScope, *, since_truth: int | None, now: datetime
) -> Snapshot:
    """What the registry has about the runs in scope, without costs, slices and best run.

    Revisions are those of the ground truth after version `since_truth`, none if that is None.
    Raises `NotFound` for an unknown dataset.
    """
    dataset = dataset_in_scope(session, scope)
    found = scoped_runs(session, dataset_id=dataset.id, terms=_terms(scope))
    root_id = next((run.root_id for run in found), None)
    root = None if root_id is None else truths.get_truth(session, root_id)
    head = None if root is None else truths.head_of(session, root.id)
    head_id = None if head is None else head.id
    comparable = [
        run for run in found if run.root_id == root_id and run.only_truth_id in {None, head_id}
    ]
    shown = comparable[:MOST_RUNS]
    waiting = _waiting(session, shown)
    scored = [run.id for run in shown if run.state is RunState.EVALUATED and run.id not in waiting]
    runs = figures_in_scope(session, scope, dataset, run_ids=scored, slices=(None,))
    firing = firing_flags(session, scored, now=now, limit=MOST_FLAGS)
    return Snapshot(
        task=dataset.task.value,
        n_classes=len(dataset.labels),
        truth=None
        if head is None or root is None
        else TruthFigures(head.number, root.number, head.digest, head.n_samples, head.n_labelled),
        suite_version=SUITE_VERSION,
        engine_version=offdiag_version(),
        runs=runs,
        slices=(),
        leader=None,
        revisions=_revisions(session, head, since_truth),
        waiting=tuple(RunName(run.id, run.name) for run in shown if run.id in waiting),
        failed=tuple(RunName(run.id, run.name) for run in shown if run.state is RunState.FAILED),
        n_matching=len(comparable),
        n_elsewhere=len(found) - len(comparable),
        flags=firing.flags,
        n_flags=firing.n_flags,
        champion=_champion(session, dataset.id),
        declared=custom_versions(),
    )


def with_weights(session: Session, snapshot: Snapshot, known: Collection[str]) -> Snapshot:
    """The snapshot with digests of sample weights, for weighted runs to be compared by name.

    Of each name these are the newest run and the run in `known`, that of the previous edition.
    """
    weighted = [run for run in reversed(snapshot.runs) if run.has_weights]
    then = {run.name: run.id for run in weighted if run.id in known}
    now = {run.name: run.id for run in weighted if run.name in then and run.id not in known}
    ids = {*now.values(), *(then[name] for name in now)}
    if snapshot.truth is None or not ids:
        return snapshot
    n_samples = snapshot.truth.n_samples
    digests = {
        run_id: hashlib.sha256(weights.tobytes()).hexdigest()
        for each in sorted(ids)
        for run_id, weights in weights_in_truth_order(session, [each], n_samples=n_samples).items()
    }
    runs = (replace(run, weights=digests.get(run.id)) for run in snapshot.runs)
    return replace(snapshot, runs=tuple(runs))


def _champion(session: Session, dataset_id: int) -> RunName | None:
    roles = promotions_in_force(session, [dataset_id]).get(dataset_id, {})
    found = roles.get(PromotionRole.CHAMPION)
    if found is None or found.run_id is None:
        return None
    return RunName(found.run_id, found.run_name or found.run_id)


def dataset_in_scope(session: Session, scope: ReportScope) -> DatasetRecord:
    """The dataset of a scope. Raises `NotFound`."""
    return datasets.dataset_named(session, project=scope.project, name=scope.dataset)


def _terms(scope: ReportScope) -> RunFilter:
    return tuple(
        FilterTerm(_FIELDS[term.field], term.text, value=term.value, is_pattern="*" in term.text)
        for term in scope.terms
    )


def _waiting(session: Session, shown: list[ScopedRun]) -> set[str]:
    ids = [run.id for run in shown]
    stale = stale_runs(session, metrics_suffix=custom_suffix(), run_ids=ids)
    return {run.run_id for run in stale}


def figures_in_scope(
    session: Session,
    scope: ReportScope,
    dataset: DatasetRecord,
    *,
    run_ids: Sequence[str],
    slices: Sequence[str | None],
) -> tuple[RunFigures, ...]:
    """The values that a report keeps of these runs, on all samples (None) or on slices."""
    return run_figures(
        session,
        run_ids,
        slices=slices,
        metrics=scope.kept_metrics,
        labels=dataset.labels,
        watched={each.class_label for each in scope.alerts if each.class_label is not None},
    )


def with_leader(session: Session, scope: ReportScope, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the errors of its best run, which may depend on costs."""
    if not snapshot.runs:
        return snapshot
    best = ranked(snapshot.runs, scope.ranking_metric)[0]
    evaluation = evaluations.evaluation_of_inputs(session, best.id, best.input_digest)
    if evaluation is None or not isinstance(evaluation.counted, ConfusionMatrix):
        # Labels in sets are not confused with each other, and sums of weights are not counts.
        return snapshot
    matrix = evaluation.counted
    if not matrix.total:
        return snapshot
    whole = None
    if matrix.n_classes <= LARGEST_MATRIX:
        whole = Matrix(best.id, matrix.labels.names, tuple(map(tuple, matrix.counts.tolist())))
    errors = LeaderErrors(best.id, whole, most_frequent_confusions(matrix))
    return replace(snapshot, leader=errors)


def most_frequent_confusions(matrix: ConfusionMatrix) -> tuple[Confusion, ...]:
    """The largest cells off the diagonal, at most `MOST_CONFUSIONS`; ties in label order."""
    errors = matrix.counts.copy()
    np.fill_diagonal(errors, 0)
    order = np.argsort(-errors, axis=None, kind="stable")[:MOST_CONFUSIONS]
    actual, predicted = np.unravel_index(order, errors.shape)
    names, support = matrix.labels.names, matrix.actual
    return tuple(
        Confusion(names[row], names[column], int(errors[row, column]), int(support[row]))
        for row, column in zip(actual.tolist(), predicted.tolist(), strict=True)
        if errors[row, column] > 0
    )


def _revisions(
    session: Session, head: TruthRecord | None, since_truth: int | None
) -> tuple[Revision, ...]:
    newest_first = []
    child = head
    while child is not None and since_truth is not None and child.number > since_truth:
        if child.parent_id is None:
            break
        parent = truths.get_truth(session, child.parent_id)
        before, after = (truths.truth_codes(session, each.id) for each in (parent, child))
        newest_first.append(
            Revision(
                number=child.number,
                parent_number=parent.number,
                reason=child.reason or "",
                author=child.author,
                created_at=child.created_at,
                n_changed=_n_changed(before, after),
            )
        )
        child = parent
    return tuple(reversed(newest_first))


def _n_changed(before: Codes, after: Codes) -> int:
    """The number of samples with another label, or another set, which may have several bytes."""
    return int(np.count_nonzero((before != after).reshape(len(before), -1).any(axis=1)))
