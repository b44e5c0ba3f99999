"""The groups of a dataset's classes, a line for each with what is right inside it."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.hierarchy import Group, Hierarchy
from offdiag_web.presenters import numbers

MOST_GROUPS = 100
MOST_NAMED = 12
"""Classes of a group that are named."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group after those around it; `n_hidden` of its classes are not named."""

    around: tuple[str, ...]
    name: str
    classes: tuple[str, ...]
    n_hidden: int


@dataclass(frozen=True, slots=True)
class GroupLines:
    """The first groups; `more` says how many others there are."""

    lines: tuple[GroupLine, ...]
    more: str | None


def group_lines(hierarchy: Hierarchy) -> GroupLines:
    """Every group before those inside it, up to `MOST_GROUPS`."""
    groups = list(hierarchy.by_name.values())
    hidden = len(groups) - MOST_GROUPS
    return GroupLines(
        tuple(_line(hierarchy, group) for group in groups[:MOST_GROUPS]),
        numbers.plural(hidden, "more group") if hidden > 0 else None,
    )


def _line(hierarchy: Hierarchy, group: Group) -> GroupLine:
    classes = [each for each in group.members if isinstance(each, str)]
    return GroupLine(
        around=tuple(numbers.shortened(each.name) for each in hierarchy.parents[group.name]),
        name=numbers.shortened(group.name),
        classes=tuple(numbers.shortened(name) for name in classes[:MOST_NAMED]),
        n_hidden=max(len(classes) - MOST_NAMED, 0),
    )
