"""The flags of one run that still fire, with the rank of its accuracy beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlalchemy.orm import Session

from offdiag.flags.lifecycle import FlagState
from offdiag.store.flags import FlagRecord, record
from offdiag.store.models import FlagRow
from offdiag.store.queries.flag_filter import SEVERITY_RANK
from offdiag.store.queries.same_truth import Measured, n_scored_like
from offdiag.store.types import PlainText

_RUN = "run_id"

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
    rows = session.execute(_firing(), {_RUN: run_id}).all()
    if not rows:
        return RunFlags()
    first = rows[0]
    return RunFlags(
        flags=tuple(record(row[0]) for row in rows),
        n_firing=first.n_firing,
        accuracy_rank=first.n_higher + 1 if first.n_ranked else None,
        n_ranked=first.n_ranked,
    )


@cache
def _firing() -> Select[*tuple[Any, ...]]:
    """The statement, which takes far longer to build than to run."""
    run_id: ColumnElement[str] = bindparam(_RUN, type_=PlainText)
    accuracy = Measured(run_id, "overall_accuracy")
    return (
        select(
            FlagRow,
            func.count().over().label("n_firing"),
            accuracy.n_higher.label("n_higher"),
            n_scored_like(run_id).label("n_ranked"),
        )
        .where(FlagRow.run_id == run_id, FlagRow.state != FlagState.CLOSED)
        .order_by(SEVERITY_RANK.desc(), FlagRow.in_badge.desc(), FlagRow.id)
        .limit(MOST_FLAGS)
    )
