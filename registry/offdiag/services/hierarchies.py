"""Looking up and changing how the classes of a dataset are grouped."""

from __future__ import annotations

from offdiag.domain.hierarchy import Hierarchy
from offdiag.services.truth.lookup import dataset_named
from offdiag.store import datasets
from offdiag.store.database import Database


def hierarchy_of(database: Database, *, project: str, dataset: str) -> Hierarchy | None:
    """The groups of classes of a dataset, None where it has none. Raises `NotFound`."""
    with database.read() as session:
        return dataset_named(session, project=project, name=dataset).hierarchy


def set_hierarchy(
    database: Database, *, project: str, dataset: str, given: object | None
) -> Hierarchy | None:
    """Group the classes of a dataset, in place of how they were grouped; None takes groups away.

    Results stay as they are: a hierarchy is a way to look at them. Raises `NotFound`, and
    `InvalidInput` for what is no hierarchy over its classes.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        hierarchy = None if given is None else Hierarchy.declared(given, known.labels)
        datasets.set_hierarchy(session, known.id, hierarchy)
        return hierarchy
