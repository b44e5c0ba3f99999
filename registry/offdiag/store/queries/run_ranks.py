"""Where a run stands among all runs that were scored with the same ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import union_all
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.models import MetricValueRow
from offdiag.store.queries.recorded_values import recorded_value, select_values
from offdiag.store.queries.same_truth import Measured, current_of, n_scored_like


@dataclass(frozen=True, slots=True)
class RankedValue:
    """A metric of a run, with its place among `n_runs`: 1 for the highest, equals share one.

    `rank` is None where the value is undefined, and where the ground truth is not known.
    """

    value: MetricValue
    rank: int | None
    n_runs: int


def run_ranks(session: Session, run_id: str, keys: Sequence[str]) -> dict[str, RankedValue]:
    """Aggregates of the current evaluation of a run with their ranks, by key; one statement."""
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
    return {
        row.key: RankedValue(
            recorded_value(row),
            row.n_higher + 1 if row.value is not None and row.n_runs else None,
            row.n_runs,
        )
        for row in session.execute(union_all(*parts))
    }
