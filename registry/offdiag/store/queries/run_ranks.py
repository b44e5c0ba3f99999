"""Where a run stands among all runs that were scored with the same ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.recorded_values import recorded_value, select_values


@dataclass(frozen=True, slots=True)
class RankedValue:
    """A metric of a run, with its place among `n_runs`: 1 for the highest, equals share one.

    `rank` is None where the value is undefined, and where the ground truth is not known.
    """

    value: MetricValue
    rank: int | None
    n_runs: int


def run_ranks(session: Session, run_id: str, keys: Sequence[str]) -> dict[str, RankedValue]:
    """Aggregates of the current evaluation of a run with their ranks, by key."""
    this, mine = aliased(EvaluationRow), MetricValueRow
    other, theirs = aliased(EvaluationRow), aliased(MetricValueRow)
    others: Select[Any] = (
        select(func.count())
        .select_from(theirs)
        .join(other, other.id == theirs.evaluation_id)
        .join(RunRow, RunRow.id == other.run_id)
        .where(
            theirs.key == mine.key,
            theirs.class_index == AGGREGATE,
            theirs.value.is_not(None),
            other.is_current,
            other.slice.is_(None),
            other.truth_version_id == this.truth_version_id,
            RunRow.deleted_at.is_(None),
        )
        .correlate(mine, this)
    )
    rows = session.execute(
        select_values()
        .add_columns(
            others.where(theirs.value > mine.value).scalar_subquery().label("n_higher"),
            others.scalar_subquery().label("n_runs"),
        )
        .join(this, this.id == mine.evaluation_id)
        .where(
            and_(this.run_id == run_id, this.is_current, this.slice.is_(None)),
            mine.class_index == AGGREGATE,
            mine.key.in_(keys),
        )
    )
    return {
        row.key: RankedValue(
            recorded_value(row),
            row.n_higher + 1 if row.value is not None and row.n_runs else None,
            row.n_runs,
        )
        for row in rows
    }
