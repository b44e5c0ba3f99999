"""Flags on slices, which nobody reads where small groups are suppressed.

Their messages have figures of groups. They are closed once the rules judge the run again, and
until then, and closed, they are left out of every statement of a reading transaction.
"""

from __future__ import annotations

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria

from offdiag.store.models import FlagRow

_OF_ALL_SAMPLES = with_loader_criteria(FlagRow, FlagRow.slice == "", include_aliases=True)


def hide_flags_of_slices(session: Session) -> None:
    """Let a session see the flags that are about all samples, and no others."""

    @event.listens_for(session, "do_orm_execute")
    def narrow(state: ORMExecuteState) -> None:
        if state.is_select:
            state.statement = state.statement.options(_OF_ALL_SAMPLES)
