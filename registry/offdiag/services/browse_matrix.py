"""What a picture of a matrix reads: the run and its counts, and nothing else a page tells."""

from __future__ import annotations

from offdiag.store.database import Database
from offdiag.store.run_page import RunDetail, run_detail


def browse_matrix(database: Database, run_id: str) -> RunDetail:
    """One run with its matrix, in one statement. Raises `NotFound`."""
    with database.read() as session:
        return run_detail(session, run_id, aggregates=False)
