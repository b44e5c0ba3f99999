"""Comparing a run with others: neighbours, ranks, the baseline, and runs that do better.

Only runs that were scored with the same label version are ranked with one another.

Everything known about the given run is a scalar in the query, and deleted runs are a short list.
Other runs on the label version are found by an index, so those of other datasets cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    CompoundSelect,
    Integer,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import PromotionRole
from offdiag.domain.values import MetricValue
from offdiag.store.evaluations import (
    VALUE_COLUMNS,
    counts_for_its_run,
    recorded_value,
    select_values,
)
from offdiag.store.models import BaselineRow, EvaluationRow, MetricValueRow, PromotionRow, RunRow
from offdiag.store.models.base import PlainText
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.runs import is_chosen_here

RunId = str | ColumnElement[str]
"""The id of a run, or its placeholder in a statement that is built once."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of the current evaluation of a run; `class_index` as in the stored values."""

    run_id: RunId
    key: str
    class_index: int | ColumnElement[int] = AGGREGATE

    def is_measured_by(self, value: type[MetricValueRow]) -> ColumnElement[bool]:
        """Whether a stored value is of this metric, for any run."""
        return and_(value.key == self.key, value.class_index == self.class_index)

    @property
    def value(self) -> ScalarSelect[float | None]:
        """The value of the run itself."""
        mine = aliased(MetricValueRow)
        return (
            select(mine.value)
            .where(mine.evaluation_id == current_of(self.run_id), self.is_measured_by(mine))
            .scalar_subquery()
        )

    @property
    def n_higher(self) -> ScalarSelect[int]:
        """How many runs have a higher value."""
        stored, other = aliased(MetricValueRow), aliased(EvaluationRow)
        # Looked up per run on the same labels: of all runs, many more may have a higher value.
        theirs = (
            select(stored.value)
            .where(stored.evaluation_id == other.id, self.is_measured_by(stored))
            .correlate(other)
            .scalar_subquery()
        )
        return (
            select(func.count())
            .select_from(other)
            .where(is_scored_like(self.run_id, other), theirs > self.value)
            .scalar_subquery()
        )


def values_alike(run_id: RunId, keys: Sequence[str]) -> CTE:
    """The values of metrics for all runs scored on the same labels as a run, including itself.

    Each metric is a column named by its key. The values are looked up once for all uses.
    """
    other = aliased(EvaluationRow)
    stored = {key: aliased(MetricValueRow) for key in keys}
    found = select(*(value.value.label(key) for key, value in stored.items())).select_from(other)
    for key, value in stored.items():
        is_theirs = value.evaluation_id == other.id
        found = found.outerjoin(
            value, and_(is_theirs, Measured(run_id, key).is_measured_by(value))
        )
    return found.where(is_scored_like(run_id, other)).cte("alike")


def n_scored_like(run_id: RunId) -> ScalarSelect[int]:
    """How many runs were scored on the same labels as a run, including itself."""
    other = aliased(EvaluationRow)
    return (
        select(func.count())
        .select_from(other)
        .where(is_scored_like(run_id, other))
        .scalar_subquery()
    )


def is_scored_like(run_id: RunId, other: type[EvaluationRow]) -> ColumnElement[bool]:
    """Whether an evaluation is current and was computed on the same labels as another run.

    Values of weighted samples are not comparable to others: such a run has no rank among others.
    """
    this, deleted, weighted = aliased(EvaluationRow), aliased(RunRow), aliased(RunRow)
    weighted_runs = select(weighted.id).where(weighted.is_weighted)
    truth = (
        select(this.truth_version_id)
        .where(this.id == current_of(run_id), this.run_id.not_in(weighted_runs))
        .scalar_subquery()
    )
    return and_(
        counts_for_its_run(other),
        other.truth_version_id == truth,
        other.run_id.not_in(select(deleted.id).where(deleted.deleted_at.is_not(None))),
        other.run_id.not_in(weighted_runs),
    )


def current_of(run_id: RunId) -> ScalarSelect[int]:
    """Id of the current evaluation of all samples of a run."""
    this = aliased(EvaluationRow)
    return select(this.id).where(this.run_id == run_id, counts_for_its_run(this)).scalar_subquery()


_RUN = "run_id"


@dataclass(frozen=True, slots=True)
class RankedValue:
    """A metric of a run, with its rank among `n_runs`: 1 for the highest, ties share a rank.

    `rank` is None if the value is undefined or the labels are not known.
    """

    value: MetricValue
    rank: int | None
    n_runs: int


def run_ranks(session: Session, run_id: str, keys: Sequence[str]) -> dict[str, RankedValue]:
    """Aggregates of the current evaluation of a run with their ranks, by key; one statement."""
    return {
        row.key: RankedValue(
            recorded_value(row),
            row.n_higher + 1 if row.value is not None and row.n_runs else None,
            row.n_runs,
        )
        for row in session.execute(_ranked(tuple(keys)), {_RUN: run_id})
    }


@cache
def _ranked(keys: tuple[str, ...]) -> CompoundSelect[*tuple[Any, ...]]:
    """The statement, which takes far longer to build than to execute; few variants exist."""
    run_id: ColumnElement[str] = bindparam(_RUN, type_=PlainText)
    parts = []
    for key in keys:
        metric = Measured(run_id, key)
        parts.append(
            select_values()
            .add_columns(metric.n_higher.label("n_higher"), n_scored_like(run_id).label("n_runs"))
            .where(
                MetricValueRow.evaluation_id == current_of(run_id),
                metric.is_measured_by(MetricValueRow),
            )
        )
    return union_all(*parts)


@dataclass(frozen=True, slots=True)
class AlternativeRun:
    """A run with its recall of the class, in [0, 1] with its interval, and its accuracy."""

    run_id: str
    name: str
    model: str | None
    source: SourceOrientation
    recall: MetricValue
    accuracy: float | None
    is_chosen_here: bool = False


@dataclass(frozen=True, slots=True)
class BetterRuns:
    """The best runs that were found, out of `n_compared` others on the same labels."""

    found: tuple[AlternativeRun, ...]
    n_compared: int


def alternative_runs(session: Session, run_id: str, *, class_index: int, limit: int) -> BetterRuns:
    """The runs with the highest recall of a class, if higher than that of `run_id`.

    Only runs whose current evaluation is on the same labels; among equals the last evaluated
    first.
    """
    asked = {"run_id": run_id, "class_index": class_index, "limit": limit}
    rows = session.execute(_best_first(), asked).all()
    return BetterRuns(
        tuple(
            AlternativeRun(
                run_id=row.id,
                name=row.name,
                model=row.model,
                source=SourceOrientation(row.source_orientation),
                recall=recorded_value(row),
                accuracy=row.accuracy,
                is_chosen_here=is_chosen_here(row),
            )
            for row in rows
        ),
        n_compared=rows[0].n_scored - 1 if rows else 0,
    )


@cache
def _best_first() -> Select[*tuple[Any, ...]]:
    """The statement, which takes longer to build than to execute."""
    run_id = bindparam("run_id", type_=String())
    wanted = Measured(run_id, "recall", bindparam("class_index", type_=Integer()))
    recall, other = aliased(MetricValueRow), aliased(EvaluationRow)
    best = (
        select(other.id, other.run_id)
        .join(recall, recall.evaluation_id == other.id)
        .where(
            wanted.is_measured_by(recall),
            recall.value > wanted.value,
            is_scored_like(run_id, other),
            other.run_id != run_id,
        )
        .order_by(recall.value.desc(), other.id.desc())
        .limit(bindparam("limit", type_=Integer()))
        .subquery()
    )
    accuracy = aliased(MetricValueRow)
    of_accuracy = Measured(run_id, "overall_accuracy").is_measured_by(accuracy)
    of_recall = wanted.is_measured_by(MetricValueRow)
    return (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.source_orientation,
            RunRow.derived_from,
            RunRow.derivation,
            *VALUE_COLUMNS,
            accuracy.value.label("accuracy"),
            n_scored_like(run_id).label("n_scored"),
        )
        .join(best, best.c.run_id == RunRow.id)
        .join(MetricValueRow, (MetricValueRow.evaluation_id == best.c.id) & of_recall)
        .outerjoin(accuracy, (accuracy.evaluation_id == best.c.id) & of_accuracy)
        .order_by(MetricValueRow.value.desc(), best.c.id.desc())
    )


@dataclass(frozen=True, slots=True)
class BaselineValues:
    """A run with some of its aggregates."""

    run_id: str
    name: str
    metrics: Mapping[str, MetricValue]
    is_weighted: bool


def baseline_values(
    session: Session, *, run_id: str | None, dataset_id: int | None, keys: Sequence[str]
) -> BaselineValues | None:
    """The named run, else the one pinned for the dataset; None if it is not evaluated.

    One statement.
    """
    if run_id is None and dataset_id is None:
        return None
    wanted = RunRow.id == run_id if run_id is not None else BaselineRow.dataset_id == dataset_id
    rows = session.execute(
        select_values()
        .add_columns(RunRow.id.label("run_id"), RunRow.name, RunRow.is_weighted)
        .join(EvaluationRow, EvaluationRow.id == MetricValueRow.evaluation_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .outerjoin(BaselineRow, BaselineRow.run_id == RunRow.id)
        .where(
            wanted,
            RunRow.deleted_at.is_(None),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.in_(keys),
        )
    ).all()
    if not rows:
        return None
    first = rows[0]
    metrics = {row.key: recorded_value(row) for row in rows}
    return BaselineValues(first.run_id, first.name, metrics, first.is_weighted)


@dataclass(frozen=True, slots=True)
class RunNeighbours:
    """The ids of the runs logged right after and right before one, and the roles of the run."""

    newer_id: str | None = None
    older_id: str | None = None
    is_baseline: bool = False
    champion_id: str | None = None
    candidate_id: str | None = None


def neighbour_columns() -> tuple[ColumnElement[Any], ...]:
    """Columns for a statement over runs, in the order of `RunNeighbours`."""
    is_pinned = exists().where(BaselineRow.run_id == RunRow.id).correlate(RunRow)
    return (
        *(_next_run(is_newer=True), _next_run(is_newer=False), is_pinned),
        *map(_run_in_role, (PromotionRole.CHAMPION, PromotionRole.CANDIDATE)),
    )


def _run_in_role(role: PromotionRole) -> ScalarSelect[Any]:
    """The run that was last given a role in the dataset; NULL if the role was withdrawn."""
    return (
        select(PromotionRow.run_id)
        .where(PromotionRow.dataset_id == RunRow.dataset_id, PromotionRow.role == role)
        .order_by(PromotionRow.id.desc())
        .limit(1)
        .correlate(RunRow)
        .scalar_subquery()
    )


def _next_run(*, is_newer: bool) -> ScalarSelect[Any]:
    """The run next to one in the list of its dataset, newest first; ids break ties."""
    other = aliased(RunRow)
    logged, other_id = other.created_at.expression, other.id.expression
    beyond: ColumnElement[bool]
    if is_newer:
        at_or_beyond = logged >= RunRow.created_at
        beyond = or_(logged > RunRow.created_at, other_id > RunRow.id)
        order = (logged, other_id)
    else:
        at_or_beyond = logged <= RunRow.created_at
        beyond = or_(logged < RunRow.created_at, other_id < RunRow.id)
        order = (logged.desc(), other_id.desc())
    return (
        select(other_id)
        .where(
            and_(other.dataset_id == RunRow.dataset_id, other.deleted_at.is_(None)),
            # An index can start from the first of these conditions.
            and_(at_or_beyond, beyond),
        )
        .order_by(*order)
        .limit(1)
        .correlate(RunRow)
        .scalar_subquery()
    )
