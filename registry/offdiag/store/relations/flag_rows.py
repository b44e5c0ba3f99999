"""The relation `flags`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.store.models import FlagRow
from offdiag.store.queries.flag_filter import HIDES, MAY_HIDE
from offdiag.store.relations.batches import batch_of_rows
from offdiag.store.relations.columns import schema_of
from offdiag.store.relations.wanted import Wanted


def flag_rows(session: Session, run_ids: Sequence[str], wanted: Wanted) -> pa.Table:
    """All flags of the named runs, whatever became of them; one statement."""
    statement = (
        select(
            FlagRow.run_id,
            FlagRow.rule,
            func.nullif(FlagRow.class_label, ""),
            FlagRow.severity,
            FlagRow.state,
            FlagRow.message,
            HIDES,
            MAY_HIDE,
            FlagRow.reason,
            FlagRow.assignee,
            FlagRow.first_seen,
            FlagRow.last_seen,
            FlagRow.closed_at,
        )
        .where(FlagRow.run_id.in_(run_ids))
        .order_by(FlagRow.run_id, FlagRow.id)
    )
    return batch_of_rows(session.execute(statement), schema_of("flags"), wanted)
