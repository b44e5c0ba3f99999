"""What the page of a dataset reads."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.services.truth.lookup import dataset_named
from offdiag.store.database import Database
from offdiag.store.dataset_page import (
    DatasetRuns,
    SliceFacts,
    dataset_runs,
    dataset_slices,
    projects_with_dataset,
)
from offdiag.store.datasets import DatasetRecord
from offdiag.store.truths import TruthSummary, truth_list


@dataclass(frozen=True)
class DatasetDetail:
    """A dataset with all versions of its truth, newest first, its runs and its slices."""

    dataset: DatasetRecord
    versions: tuple[TruthSummary, ...]
    runs: DatasetRuns
    slices: tuple[SliceFacts, ...]


def browse_dataset(database: Database, *, project: str, dataset: str) -> DatasetDetail:
    """Everything the page of a dataset shows. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return DatasetDetail(
            known,
            truth_list(session, known.id),
            dataset_runs(session, known.id),
            dataset_slices(session, known.id),
        )


def projects_with(database: Database, dataset: str) -> tuple[str, ...]:
    """Projects that have a dataset of this name."""
    with database.read() as session:
        return projects_with_dataset(session, dataset)
