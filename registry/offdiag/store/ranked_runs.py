"""Ranking the runs of a dataset by one metric, best first.

Only evaluated runs with up-to-date results on the newest label version of the dataset are ranked.
The values of runs with sample weights measure something else, so these are ranked only if all runs
have weights. The module also reads accuracies, worst classes and label versions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, cast

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, literal, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.domain.values import MetricValue
from offdiag.store.evaluations import (
    VALUE_COLUMNS,
    counts_for_its_run,
    has_results_of_run,
    recorded_value,
)
from offdiag.store.models import DatasetRow, EvaluationRow, MetricValueRow, RunRow, TruthVersionRow
from offdiag.store.models.base import record_as
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.run_order import NEWEST_FIRST_OF_EQUALS
from offdiag.store.run_rows import lowest_first
from offdiag.store.runs import is_chosen_here
from offdiag.store.truths import newest_id, newest_numbers


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run with its value; `has_predictions` is False for an uploaded matrix.

    `derived_from` is the id of the run from whose scores it was derived; `is_chosen_here` says
    that its threshold was chosen on the same examples. `cost_matrix_id` is that of the costs by
    which its evaluation was judged.
    """

    id: str
    name: str
    model: str | None
    created_at: datetime
    evaluation_id: int
    has_predictions: bool
    value: MetricValue
    has_scores: bool = False
    derived_from: str | None = None
    is_chosen_here: bool = False
    cost_matrix_id: int | None = None


@dataclass(frozen=True, slots=True)
class RankedRuns:
    """The best runs by a metric, best first, out of `total` that have a value.

    `truth_number` is that of the label version, None if the dataset has none. `n_outdated` runs
    wait for results on it. `n_weighted` runs with sample weights are not ranked with the others;
    `weighted` are the best of these, as far as they were read.
    """

    key: str
    truth_number: int | None
    runs: tuple[RankedRun, ...]
    total: int
    n_outdated: int
    has_weights: bool = False
    """Whether the samples of all runs have weights."""
    n_weighted: int = 0
    weighted: tuple[RankedRun, ...] = ()


def ranked_runs(
    session: Session, dataset_id: int, key: str, *, lower_is_better: bool, limit: int
) -> RankedRuns:
    """The runs of a dataset by an aggregate metric, in at most two statements."""
    evaluated_on = aliased(TruthVersionRow)
    n_outdated = (
        select(func.count())
        .select_from(evaluated_on)
        .join(
            EvaluationRow,
            and_(EvaluationRow.truth_version_id == evaluated_on.id, counts_for_its_run()),
        )
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .where(
            # Not that of the run, which would read the whole dataset to find a few runs.
            evaluated_on.dataset_id == dataset_id,
            RunRow.deleted_at.is_(None),
            # A matrix stays with its labels, and failed evaluations are not retried automatically.
            RunRow.source_orientation == SourceOrientation.PREDICTIONS,
            RunRow.state != RunState.FAILED,
            evaluated_on.root_id == TruthVersionRow.root_id,
            evaluated_on.id != TruthVersionRow.id,
        )
        .correlate(TruthVersionRow)
        .scalar_subquery()
    )
    newest = session.execute(
        select(TruthVersionRow.id, TruthVersionRow.number, n_outdated.label("n_outdated"))
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc())
        .limit(1)
    ).one_or_none()
    if newest is None:
        return RankedRuns(key, None, (), 0, 0)
    evaluated = select(
        EvaluationRow.id,
        literal(key).label("key"),
        literal(lower_is_better).label("lower_is_better"),
    ).where(
        EvaluationRow.truth_version_id == newest.id,
        counts_for_its_run(),
        EvaluationRow.run_id.not_in(_DELETED),
    )
    rows = _highest(session, evaluated, limit).get(dataset_id, [])
    return _of_rows(rows, key, newest.number, n_outdated=newest.n_outdated)


def highest_runs(
    session: Session,
    dataset_id: int,
    key: str,
    class_index: int = AGGREGATE,
    *,
    lower_is_better: bool = False,
    limit: int,
) -> list[RankedRun]:
    """The best runs of a dataset by a metric, of one class or of all; one statement.

    Runs with sample weights are included only if there are no others.
    """
    order = MetricValueRow.value.asc() if lower_is_better else MetricValueRow.value.desc()
    rows = session.execute(
        _evaluated(key, class_index)
        .where(
            RunRow.dataset_id == dataset_id,
            EvaluationRow.truth_version_id == newest_id(dataset_id),
        )
        .order_by(RunRow.is_weighted, order, *NEWEST_FIRST_OF_EQUALS)
        .limit(limit)
    ).all()
    return [_run(row) for row in rows if row.is_weighted == rows[0].is_weighted]


def ranked_run(session: Session, run_id: str, value: MetricValue) -> RankedRun:
    """An evaluated run with a value that was found elsewhere; one statement."""
    run, evaluation_id, costs_id = session.execute(
        select(RunRow, EvaluationRow.id, EvaluationRow.cost_matrix_id)
        .join(EvaluationRow, has_results_of_run())
        .where(RunRow.id == run_id)
    ).one()
    return record_as(
        RankedRun,
        run,
        evaluation_id=evaluation_id,
        has_predictions=run.source_orientation == SourceOrientation.PREDICTIONS,
        value=value,
        has_scores=run.score_columns > 0,
        is_chosen_here=is_chosen_here(run),
        cost_matrix_id=costs_id,
    )


def ranked_runs_of(
    session: Session,
    dataset_ids: Collection[int],
    default_keys: Mapping[Task, str],
    *,
    lower_is_better: Mapping[Task, Collection[str]],
    limit: int,
) -> dict[int, RankedRuns]:
    """The best runs of each dataset by its primary metric, by id, in one statement.

    `default_keys` has the key by task for datasets that name none, `lower_is_better` the keys for
    which lower values are better. `n_outdated` is not counted. Datasets without a value are
    absent.
    """
    newest = newest_numbers(dataset_ids)
    key = func.coalesce(DatasetRow.primary_metric, case(default_keys, value=DatasetRow.task))
    is_lower_better = or_(
        *(and_(DatasetRow.task == task, key.in_(keys)) for task, keys in lower_is_better.items())
    )
    evaluated = (
        select(EvaluationRow.id, key.label("key"), is_lower_better.label("lower_is_better"))
        .select_from(TruthVersionRow)
        .join(
            newest,
            and_(
                newest.c.dataset_id == TruthVersionRow.dataset_id,
                newest.c.number == TruthVersionRow.number,
            ),
        )
        .join(DatasetRow, DatasetRow.id == TruthVersionRow.dataset_id)
        .join(
            EvaluationRow,
            and_(EvaluationRow.truth_version_id == TruthVersionRow.id, counts_for_its_run()),
        )
        .where(EvaluationRow.run_id.not_in(_DELETED))
    )
    return {
        dataset_id: _of_rows(rows, rows[0].key, rows[0].number)
        for dataset_id, rows in _highest(session, evaluated, limit).items()
    }


_DELETED = select(RunRow.id).where(RunRow.deleted_at.is_not(None))


def _highest(
    session: Session, evaluations: Select[int, str, bool], limit: int
) -> dict[int, list[Row[*tuple[Any, ...]]]]:
    """At most `limit` runs by dataset, best first and weighted ones last; one statement.

    `evaluations` has id, key and lower_is_better of those that are ranked with others on the same
    labels. Ranking reads as little as possible of each; all shown columns are read of the best
    only.
    """
    evaluated = evaluations.cte("evaluated").prefix_with("MATERIALIZED")
    row, place = MetricValueRow, tuple_(MetricValueRow.evaluation_id, MetricValueRow.key)
    lower = select(evaluated.c.id, evaluated.c.key).where(evaluated.c.lower_is_better)
    weighted = (
        select(EvaluationRow.id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .where(RunRow.is_weighted)
    )
    labels = (
        select(EvaluationRow.truth_version_id)
        .where(EvaluationRow.id == row.evaluation_id)
        .scalar_subquery()
    )
    # No joins: otherwise SQLite's table statistics would decide whether it goes through the values
    # of a metric, which are stored together, or through all runs for each of them.
    compared = (
        select(
            row.evaluation_id.label("id"),
            row.key,
            labels.label("labels"),
            row.evaluation_id.in_(weighted).label("is_weighted"),
            case((place.in_(lower), -row.value), else_=row.value).label("goodness"),
        )
        .where(
            row.key.in_(select(evaluated.c.key).distinct()),
            row.class_index == AGGREGATE,
            row.value.is_not(None),
            place.in_(select(evaluated.c.id, evaluated.c.key)),
        )
        .cte("compared")
        .prefix_with("MATERIALIZED")
    )
    here = compared.c.labels
    # The size of the group that comes first: runs without weights, if there are any.
    unweighted = func.nullif(
        func.sum(case((compared.c.is_weighted, 0), else_=1)).over(partition_by=here), 0
    )
    n_of_both = func.count().over(partition_by=here)
    rank = func.rank().over(
        partition_by=here, order_by=[compared.c.is_weighted, compared.c.goodness.desc()]
    )
    ranked = select(
        compared,
        rank.label("rank"),
        func.coalesce(unweighted, n_of_both).label("total"),
        n_of_both.label("n_of_both"),
    ).subquery()
    found = session.execute(
        _evaluated(ranked.c.key)
        .add_columns(
            TruthVersionRow.dataset_id, TruthVersionRow.number, ranked.c.total, ranked.c.n_of_both
        )
        .join(ranked, ranked.c.id == EvaluationRow.id)
        .join(TruthVersionRow, TruthVersionRow.id == ranked.c.labels)
        .where(ranked.c.rank <= limit)
        .order_by(TruthVersionRow.dataset_id, ranked.c.rank, *NEWEST_FIRST_OF_EQUALS)
    )
    by_dataset = groupby(found, key=lambda row: cast(int, row.dataset_id))
    # Runs with equal values may share the last rank.
    return {dataset_id: list(rows)[:limit] for dataset_id, rows in by_dataset}


def undefined_values(session: Session, keys: Mapping[int, str]) -> dict[int, str]:
    """Why a metric has no value on the newest labels of datasets, for the newest of their runs.

    `keys` has the metric by id of the dataset, for metrics without a value for any run. Datasets
    without results on these labels are absent.
    """
    newest = newest_numbers(keys)
    rows = session.execute(
        select(newest.c.dataset_id, MetricValueRow.reason)
        .join(
            TruthVersionRow,
            and_(
                newest.c.dataset_id == TruthVersionRow.dataset_id,
                newest.c.number == TruthVersionRow.number,
            ),
        )
        .join(
            EvaluationRow,
            and_(EvaluationRow.truth_version_id == TruthVersionRow.id, counts_for_its_run()),
        )
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            RunRow.deleted_at.is_(None),
            MetricValueRow.class_index == AGGREGATE,
            tuple_(newest.c.dataset_id, MetricValueRow.key).in_(keys.items()),
            MetricValueRow.reason.is_not(None),
        )
        .group_by(newest.c.dataset_id, MetricValueRow.reason)
        .order_by(func.max(RunRow.created_at))
    )
    return dict(rows.all())


def _evaluated(
    key: str | ColumnElement[str], class_index: int = AGGREGATE
) -> Select[*tuple[Any, ...]]:
    """Evaluated runs with their values of a metric, if these are defined."""
    return (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.created_at,
            RunRow.source_orientation,
            RunRow.score_columns,
            RunRow.derived_from,
            RunRow.derivation,
            RunRow.is_weighted,
            EvaluationRow.cost_matrix_id,
            *VALUE_COLUMNS,
        )
        .select_from(RunRow)
        .join(EvaluationRow, has_results_of_run())
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            RunRow.deleted_at.is_(None),
            MetricValueRow.class_index == class_index,
            MetricValueRow.key == key,
            MetricValueRow.value.is_not(None),
        )
    )


def _of_rows(
    rows: Sequence[Row[*tuple[Any, ...]]], key: str, truth_number: int, *, n_outdated: int = 0
) -> RankedRuns:
    """The ranked runs of one dataset; rows of runs with weights come last."""
    if not rows:
        return RankedRuns(key, truth_number, (), 0, n_outdated)
    first = rows[0]
    return RankedRuns(
        key,
        truth_number,
        tuple(_run(row) for row in rows if row.is_weighted == first.is_weighted),
        first.total,
        n_outdated,
        first.is_weighted,
        first.n_of_both - first.total,
        tuple(_run(row) for row in rows if row.is_weighted != first.is_weighted),
    )


def _run(row: Row[*tuple[Any, ...]]) -> RankedRun:
    return record_as(
        RankedRun,
        row,
        has_predictions=row.source_orientation == SourceOrientation.PREDICTIONS,
        value=recorded_value(row),
        has_scores=row.score_columns > 0,
        is_chosen_here=is_chosen_here(row),
    )


@dataclass(frozen=True, slots=True)
class WorstClass:
    """The class on which a run is worst, by its code."""

    code: int
    value: float


def accuracies_of(session: Session, run_ids: Collection[str]) -> dict[str, float]:
    """Accuracy by run, for those that are evaluated, on whichever version of their labels."""
    rows = session.execute(
        select(EvaluationRow.run_id, MetricValueRow.value)
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key == "overall_accuracy",
        )
    )
    return {run_id: value for run_id, value in rows if value is not None}


def worst_classes(
    session: Session, evaluation_ids: Collection[int], key: str
) -> dict[int, WorstClass]:
    """The class with the lowest value of a metric by evaluation, if any has a value."""
    rows = session.execute(select(lowest_first(key, evaluation_ids, at_most=1)))
    return {row.evaluation_id: WorstClass(row.class_index, row.value) for row in rows}


def label_versions(session: Session, dataset_id: int) -> tuple[tuple[int, datetime], ...]:
    """Number and time of each label version of a dataset, oldest first."""
    rows = session.execute(
        select(TruthVersionRow.number, TruthVersionRow.created_at)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number)
    )
    return tuple((row.number, row.created_at) for row in rows)
