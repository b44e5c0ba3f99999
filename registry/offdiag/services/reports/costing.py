"""What the errors of the runs in a report cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.reports.changes import ranked
from offdiag.reports.scope import ReportScope, is_of_costs
from offdiag.reports.snapshot import ConstantAnswer, CostFigures, RunFigures, Snapshot
from offdiag.services.cost_matrices import CostName, costs_named
from offdiag.services.evaluation.costs import price
from offdiag.store import evaluations
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session


def costs_in_scope(
    session: Session, scope: ReportScope, dataset: DatasetRecord
) -> CostMatrixRecord | None:
    """The version of the cost matrix that a scope means now, None if it names none.

    Raises `NotFound` for an unknown name and `InvalidInput` where the costs are not about the
    classes of the dataset.
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
            f"cost matrix {scope.cost_matrix!r} is about the classes "
            f"{found.costs.labels.preview()}, dataset {dataset.name!r} has "
            f"{dataset.labels.preview()}.",
            field="cost_matrix",
            hint="Name costs for the classes of the dataset.",
        )
    return found


def with_costs(
    database: Database, scope: ReportScope, dataset: DatasetRecord, snapshot: Snapshot
) -> Snapshot:
    """The snapshot with what the errors of its runs cost. Raises as `costs_in_scope` does."""
    with database.read() as session:
        found = costs_in_scope(session, scope, dataset)
    if found is None:
        return snapshot
    runs = priced(database, snapshot.runs, found.costs)
    best = ranked(runs, scope.ranking_metric)
    constant = None if not best else _constant_answer(database, best[0], found.costs)
    figures = CostFigures(found.name, found.version, found.costs.currency, constant)
    return replace(snapshot, runs=runs, costs=figures)


def priced_slices(
    database: Database, scope: ReportScope, slices: Sequence[RunFigures], costs: CostFigures | None
) -> tuple[RunFigures, ...]:
    """Slices with what their errors cost, by the same version as the runs."""
    if costs is None:
        return tuple(slices)
    with database.read() as session:
        found = costs_named(
            session, project=scope.project, wanted=CostName(costs.name, costs.version)
        )
    return priced(database, slices, found.costs)


def priced(
    database: Database, runs: Sequence[RunFigures], costs: CostMatrix
) -> tuple[RunFigures, ...]:
    """The runs with the costs of the very matrices that their other values were made from.

    Each is read on its own: a resampled interval takes its time, and two hundred matrices of
    many classes take their room.
    """
    return tuple(_priced(database, run, costs) for run in runs)


def _priced(database: Database, run: RunFigures, costs: CostMatrix) -> RunFigures:
    with database.read() as session:
        stored = evaluations.evaluation_of_inputs(session, run.id, run.input_digest)
    if stored is None:
        return run
    values = price(stored.matrix, costs)
    metrics = {key: values[key] if is_of_costs(key) else run.metrics[key] for key in run.metrics}
    return replace(run, metrics=metrics)


def _constant_answer(
    database: Database, run: RunFigures, costs: CostMatrix
) -> ConstantAnswer | None:
    with database.read() as session:
        stored = evaluations.evaluation_of_inputs(session, run.id, run.input_digest)
    if stored is None:
        return None
    values = price(stored.matrix, costs)
    code, cost = values["best_trivial_class"].value, values["best_trivial_cost"].value
    if code is None or cost is None:
        return None
    return ConstantAnswer(costs.labels.names[round(code)], cost / stored.matrix.total)
