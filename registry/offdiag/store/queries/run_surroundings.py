"""Where a run stands in its dataset: between which others, and whether it is the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Exists, ScalarSelect, and_, exists, or_, select
from sqlalchemy.orm import aliased

from offdiag.store.models import BaselineRow, RunRow


@dataclass(frozen=True, slots=True)
class RunSurroundings:
    """The ids of the runs logged right after and right before one, and whether it is pinned."""

    newer_id: str | None = None
    older_id: str | None = None
    is_baseline: bool = False


def surroundings_columns() -> tuple[ScalarSelect[Any], ScalarSelect[Any], Exists]:
    """Columns for a statement over runs, in the order of `RunSurroundings`."""
    is_pinned = exists().where(BaselineRow.run_id == RunRow.id).correlate(RunRow)
    return _next_run(is_newer=True), _next_run(is_newer=False), is_pinned


def _next_run(*, is_newer: bool) -> ScalarSelect[Any]:
    """The run beside one in the list of its dataset, newest first; ids break ties."""
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
            # The first condition is one that an index can start from.
            and_(at_or_beyond, beyond),
        )
        .order_by(*order)
        .limit(1)
        .correlate(RunRow)
        .scalar_subquery()
    )
