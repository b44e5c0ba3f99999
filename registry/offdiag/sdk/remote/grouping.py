"""Grouping the classes of a dataset on a server."""

from __future__ import annotations

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.texts import name_segment
from offdiag.sdk.remote.reading import Reader, label_set
from offdiag.wire.datasets import Dataset, Grouping


def set_hierarchy(
    reader: Reader, project: str, dataset: str, given: object | None
) -> Hierarchy | None:
    """Group classes in place of how they were grouped; None takes groups away."""
    path = f"/datasets/{name_segment(dataset)}"
    hierarchy = None
    if given is not None:
        known = reader.get(path, Dataset, project=project)
        hierarchy = Hierarchy.declared(given, label_set(known.labels))
    groups = None if hierarchy is None else hierarchy.to_dict()
    reader.send("PUT", f"{path}/hierarchy", Grouping(project=project, hierarchy=groups))
    return hierarchy
