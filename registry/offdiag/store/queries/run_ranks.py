"""Where a run stands among all runs that were scored with the same ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, bindparam, union_all
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.models import MetricValueRow
from offdiag.store.queries.recorded_values import recorded_value, select_values
from offdiag.store.queries.same_truth import Measured, current_of, n_scored_like
from offdiag.store.types import PlainText

_RUN = "run_id"


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
    """The statement, which takes far longer to build than to run; there are a few of them."""
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
