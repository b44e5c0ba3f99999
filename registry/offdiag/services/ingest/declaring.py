"""Declaring a dataset before anything is logged on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import require_name
from offdiag.services.ingest.dataset import project_and_dataset
from offdiag.store import datasets
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.failures import after_races


@dataclass(frozen=True, slots=True)
class Declared:
    """A dataset, and whether it was there already."""

    dataset: DatasetRecord
    was_there: bool


def declare_dataset(
    database: Database,
    *,
    project: str,
    name: str,
    labels: Iterable[str],
    ordinal: bool = False,
    positive_label: str | None = None,
) -> Declared:
    """Make a dataset with these classes in this order; the same again finds it.

    Raises `InvalidInput` for names and labels that cannot be used, and `Conflict` where the
    project has a dataset of this name with other classes.
    """
    require_name(project, "project")
    declared = LabelSet.declared(labels, ordinal=ordinal)

    def transaction() -> Declared:
        with database.write() as session:
            was_there = datasets.find_dataset(session, project=project, name=name) is not None
            dataset = project_and_dataset(
                session,
                project=project,
                name=name,
                labels=declared,
                positive_label=positive_label,
                now=database.clock(),
            )
        return Declared(dataset, was_there)

    return after_races(transaction)
