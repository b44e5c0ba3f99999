"""What the front page reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns, dataset_overview
from offdiag.store.home_overview import (
    DueReport,
    Failure,
    OpenFlags,
    due_reports,
    last_failures,
    open_flags_by_dataset,
)

SHOWN_OF_EACH = 5


@dataclass(frozen=True, slots=True)
class HomeOverview:
    """The datasets with their runs, and what asks for attention.

    `open_flags` counts flags of its newest runs by the id of a dataset, which is missing where
    these have none.
    """

    datasets: tuple[tuple[DatasetFacts, LoggedRuns], ...]
    open_flags: Mapping[int, OpenFlags]
    due: tuple[DueReport, ...]
    failures: tuple[Failure, ...]


def browse_home(database: Database) -> HomeOverview:
    """All datasets, and the few things that come first elsewhere."""
    with database.read() as session:
        return HomeOverview(
            dataset_overview(session),
            open_flags_by_dataset(session),
            tuple(due_reports(session, limit=SHOWN_OF_EACH)),
            tuple(last_failures(session, limit=SHOWN_OF_EACH)),
        )
