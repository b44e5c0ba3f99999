"""The flags of one run that still fire, with the rank of its accuracy beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.flags.lifecycle import FlagState
from offdiag.store.flags import FlagRecord, record
from offdiag.store.models import EvaluationRow, FlagRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.flag_filter import SEVERITY_RANK

MOST_FLAGS = 200
"""More flags of one run than these are only counted."""


@dataclass(frozen=True, slots=True)
class RunFlags:
    """Flags that fire, settled or not, the gravest first; those of the badge before others.

    `accuracy_rank` is the place of the run by accuracy among the `n_ranked` runs on its ground
    truth, None where there is none.
    """

    flags: tuple[FlagRecord, ...] = ()
    n_firing: int = 0
    accuracy_rank: int | None = None
    n_ranked: int = 0


def run_flags(session: Session, run_id: str) -> RunFlags:
    """The flags of a run, in one statement."""
    rows = session.execute(
        select(
            FlagRow,
            func.count().over().label("n_firing"),
            _accuracies(run_id, higher=True).label("n_higher"),
            _accuracies(run_id, higher=False).label("n_ranked"),
        )
        .where(FlagRow.run_id == run_id, FlagRow.state != FlagState.CLOSED)
        .order_by(SEVERITY_RANK.desc(), FlagRow.in_badge.desc(), FlagRow.id)
        .limit(MOST_FLAGS)
    ).all()
    if not rows:
        return RunFlags()
    first = rows[0]
    return RunFlags(
        flags=tuple(record(row[0]) for row in rows),
        n_firing=first.n_firing,
        accuracy_rank=first.n_higher + 1 if first.n_ranked else None,
        n_ranked=first.n_ranked,
    )


def _accuracies(run_id: str, *, higher: bool) -> ColumnElement[int]:
    """How many runs were scored with the ground truth of this one, or better than it."""
    this, other, run = aliased(EvaluationRow), aliased(EvaluationRow), aliased(RunRow)
    mine, theirs = aliased(MetricValueRow), aliased(MetricValueRow)
    key: Mapping[str, Any] = {"key": "overall_accuracy", "class_index": AGGREGATE}
    counted = (
        select(func.count())
        .select_from(this)
        .join(other, other.truth_version_id == this.truth_version_id)
        .join(run, run.id == other.run_id)
        .join(theirs, theirs.evaluation_id == other.id)
        .where(
            this.run_id == run_id,
            *(each.is_current for each in (this, other)),
            *(each.slice.is_(None) for each in (this, other)),
            *(getattr(theirs, name) == value for name, value in key.items()),
            theirs.value.is_not(None),
            run.deleted_at.is_(None),
        )
    )
    if higher:
        counted = counted.join(mine, mine.evaluation_id == this.id).where(
            *(getattr(mine, name) == value for name, value in key.items()),
            theirs.value > mine.value,
        )
    found: ColumnElement[int] = counted.scalar_subquery()
    return found
