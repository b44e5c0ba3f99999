"""How the classes of a dataset are grouped: settled by the first log that says so."""

from __future__ import annotations

from dataclasses import replace

from offdiag.domain.hierarchy import Hierarchy
from offdiag.errors import Conflict
from offdiag.store import datasets
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session


def settle_hierarchy(session: Session, dataset: DatasetRecord, given: object) -> DatasetRecord:
    """The dataset with the groups that a log comes with; None says nothing about them.

    Raises `InvalidInput` for what is no hierarchy over its classes, and `Conflict` where it has
    another one: a training job that was started before somebody changed it must not undo that.
    """
    if given is None:
        return dataset
    hierarchy = Hierarchy.declared(given, dataset.labels)
    if hierarchy == dataset.hierarchy:
        return dataset
    if dataset.hierarchy is not None:
        raise Conflict(
            f"the classes of dataset {dataset.name!r} are grouped in another way.",
            field="hierarchy",
            hint="Leave hierarchy= out, or change it with set_hierarchy or `offdiag hierarchy`.",
        )
    datasets.set_hierarchy(session, dataset.id, hierarchy)
    return replace(dataset, hierarchy=hierarchy)
