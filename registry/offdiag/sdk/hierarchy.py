"""Saying which classes of a dataset belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offdiag.sdk.target import target


def set_hierarchy(
    *,
    dataset: str,
    hierarchy: Mapping[Any, Any] | None,
    project: str | None = None,
    url: str | None = None,
) -> dict[str, Any] | None:
    """Group the classes of a dataset, in place of how they were grouped; returns the groups.

    `hierarchy` maps names of groups to lists of classes or to further groups, such as
    `{"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}`; None takes
    groups away. Classes may be left out. No result changes: groups are a way to look at a
    matrix, with `run.evaluation(collapse=[...])` and on the pages of runs.

    Raises `InvalidInput` for what is no hierarchy over the classes, `NotFound` for an unknown
    dataset.
    """
    at = target(url)
    place = project if project is not None else at.project
    found = at.set_hierarchy(place, dataset, hierarchy)
    return None if found is None else found.to_dict()
