"""What there is to know about the ground truth of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.services.truth.lookup import dataset_named
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.truths import TruthSummary, truth_list


@dataclass(frozen=True)
class TruthHistory:
    """A dataset with all versions of its truth, newest first."""

    dataset: DatasetRecord
    versions: tuple[TruthSummary, ...]


def truth_history(database: Database, *, project: str, dataset: str) -> TruthHistory:
    """The versions of the truth of a dataset. Raises `NotFound` for an unknown one."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return TruthHistory(known, truth_list(session, known.id))
