"""What the history of a run reads."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.reports.scope import DEFAULT_METRICS
from offdiag.services.browse import run_with_currency
from offdiag.store.database import Database
from offdiag.store.queries.run_history import PastEvaluation, run_history
from offdiag.store.queries.run_page import RunDetail

MOST_EVALUATIONS = 100
"""Newer evaluations are shown first; older ones than these are left out."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run with its evaluations, newest first."""

    detail: RunDetail
    evaluations: tuple[PastEvaluation, ...]
    is_cut: bool


def browse_history(database: Database, run_id: str) -> RunHistory:
    """How the results of a run came about. Raises `NotFound`."""
    with database.read() as session:
        detail = run_with_currency(session, run_id)
        found = run_history(session, run_id, metrics=DEFAULT_METRICS, limit=MOST_EVALUATIONS + 1)
    return RunHistory(detail, found[:MOST_EVALUATIONS], len(found) > MOST_EVALUATIONS)
