"""Reading the evaluated runs of a method on a dataset, with seed, fold and metric value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import FOLD, SEED, TRAIN_SIZE
from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import Unweighted, unweighted
from offdiag.store.evaluations import counts_for_its_run, has_results_of_run, stored_counts
from offdiag.store.models import (
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.base import record_as
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.run_conditions import NULL, entry_text, method_of


@dataclass(frozen=True, slots=True)
class MethodRun:
    """A run of a method; `seed` and `fold` are None if it has no such tag.

    `train_size` is also None if the tag is not a positive number. `truth_root` names the samples
    it was evaluated on, None for a matrix without labels. `value` is None if the metric is
    undefined, and `reason` then says why.
    """

    id: str
    name: str
    method: str
    seed: str | None
    fold: str | None
    train_size: float | None
    truth_root: int | None
    is_weighted: bool
    has_predictions: bool
    evaluation_id: int
    value: float | None
    reason: str | None

    @property
    def measured(self) -> MetricValue:
        """The value without its interval."""
        return MetricValue(self.value, self.reason)


def method_runs(session: Session, dataset_id: int, key: str, *, limit: int) -> list[MethodRun]:
    """Runs with the tag `group`, by method and age, on the newest label version.

    One statement, the newest `limit` runs, those with sample weights last. Runs without a value of
    the metric are left out, and so are derived runs, which have the tags of their source but are
    not additional seeds.
    """
    dialect = session.get_bind().dialect.name
    method = method_of(RunRow.tags, dialect)
    seed, fold, size = (
        func.nullif(entry_text(RunRow.tags, name, dialect), NULL)
        for name in (SEED, FOLD, TRAIN_SIZE)
    )
    newest = (
        select(TruthVersionRow.root_id, func.max(TruthVersionRow.number).label("number"))
        .where(TruthVersionRow.dataset_id == dataset_id)
        .group_by(TruthVersionRow.root_id)
        .subquery()
    )
    rows = session.execute(
        select(
            RunRow.id,
            RunRow.name,
            RunRow.source_orientation,
            method.label("method"),
            seed.label("seed"),
            fold.label("fold"),
            size.label("train_size"),
            TruthVersionRow.root_id,
            RunRow.is_weighted,
            MetricValueRow.evaluation_id,
            MetricValueRow.value,
            MetricValueRow.reason,
        )
        .select_from(RunRow)
        .join(EvaluationRow, has_results_of_run())
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .outerjoin(newest, newest.c.root_id == TruthVersionRow.root_id)
        .where(
            RunRow.dataset_id == dataset_id,
            RunRow.deleted_at.is_(None),
            RunRow.derived_from.is_(None),
            method.is_not(None),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key == key,
            TruthVersionRow.number.is_not_distinct_from(newest.c.number),
        )
        .order_by(RunRow.is_weighted, RunRow.created_at.desc(), RunRow.id)
        .limit(limit)
    )
    return [
        record_as(
            MethodRun,
            row,
            train_size=_positive(row.train_size),
            truth_root=row.root_id,
            has_predictions=row.source_orientation == SourceOrientation.PREDICTIONS,
        )
        for row in rows
    ]


def _positive(text: str | None) -> float | None:
    """The positive finite number that a text stands for, or None."""
    try:
        value = float(text) if text is not None else 0.0
    except ValueError:
        return None
    return value if 0 < value < inf else None


def counts_of(session: Session, run_ids: Sequence[str], labels: LabelSet) -> dict[str, Unweighted]:
    """The counts of evaluated runs of one dataset by id, in one statement."""
    rows = session.execute(
        select(EvaluationRow.run_id, ConfusionMatrixRow.cells, ConfusionMatrixRow.digest)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .where(EvaluationRow.run_id.in_(run_ids), counts_for_its_run())
    )
    return {row.run_id: unweighted(stored_counts(*row, labels)) for row in rows}
