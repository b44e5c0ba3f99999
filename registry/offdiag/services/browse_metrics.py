"""What the glossary reads: datasets of two classes, and their runs as points."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.runs import Task
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.priced_runs import RatedRun, positive_class, rated_runs

RUNS_ON_A_MAP = 26
"""Runs that can still be told apart by a letter each."""


@dataclass(frozen=True, slots=True)
class MappedRuns:
    """Datasets of two classes, the one looked at, and its newest runs.

    `positive_class` is the code of the class whose recall is meant; `positive_share` its share
    in the newest ground truth, None while there is none.
    """

    datasets: tuple[DatasetFacts, ...]
    dataset: DatasetFacts | None = None
    positive_class: int = 1
    positive_label: str = ""
    positive_share: float | None = None
    runs: tuple[RatedRun, ...] = ()


def browse_mapped_runs(database: Database, dataset_id: int | None) -> MappedRuns:
    """The runs of a dataset of two classes; without any `dataset_id` those of none."""
    with database.read() as session:
        binary = tuple(each for each in dataset_list(session) if each.task is Task.BINARY)
        dataset = next((each for each in binary if each.id == dataset_id), None)
        if dataset is None:
            return MappedRuns(binary)
        code, label = positive_class(session, dataset.id)
        return MappedRuns(
            binary,
            dataset,
            code,
            label,
            _share(dataset.class_counts, code),
            tuple(rated_runs(session, dataset_id=dataset.id, limit=RUNS_ON_A_MAP)),
        )


def _share(counts: tuple[int, ...] | None, code: int) -> float | None:
    if counts is None or not 0 < counts[code] < sum(counts):
        return None
    return counts[code] / sum(counts)
