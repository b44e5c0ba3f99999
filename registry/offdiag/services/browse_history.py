"""What the history of a run reads."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.services.browse import run_with_currency
from offdiag.services.evaluation.history import ALL_KEYS, HistoryEntry, with_differences
from offdiag.store.database import Database
from offdiag.store.evaluations import evaluation_history
from offdiag.store.run_page import RunDetail


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run with all its evaluations, oldest first, those of its slices included."""

    detail: RunDetail
    entries: tuple[HistoryEntry, ...]


def browse_history(database: Database, run_id: str) -> RunHistory:
    """How the results of a run came about. Raises `NotFound`."""
    with database.read() as session:
        detail = run_with_currency(session, run_id)
        found = evaluation_history(session, run_id, keys=ALL_KEYS)
    return RunHistory(detail, with_differences(found))
