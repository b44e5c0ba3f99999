"""Groups of classes that are looked at as one class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.domain.hierarchy import ALL_GROUPS, Group, Hierarchy
from offdiag.domain.labels import LabelSet

MOST_NAMED = 6
"""Groups that a sentence names."""


@dataclass(frozen=True)
class Collapse:
    """Which classes become one.

    `labels` names what is left, groups and single classes, in the order of the first class of
    each. `places` has, for each of the K classes in label order, its code among them. `groups`
    are those that really are collapsed, in the order of the hierarchy: one inside another
    changes nothing and is left out.
    """

    labels: LabelSet
    places: tuple[int, ...]
    groups: tuple[Group, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """The classes of each collapsed group."""
        return {group.name: list(group.classes) for group in self.groups}

    @property
    def words(self) -> str:
        """ "collapsed to 3 classes: animal (2 classes), vehicle (4 classes)"; the first groups."""
        named = [f"{each.name} ({_classes(len(each.classes))})" for each in self.groups]
        left_out = len(named) - MOST_NAMED
        if left_out > 0:
            named[MOST_NAMED:] = [f"{left_out} more groups" if left_out > 1 else "1 more group"]
        return f"collapsed to {_classes(len(self.labels))}: {', '.join(named)}"


def _classes(n: int) -> str:
    return f"{n} class" if n == 1 else f"{n} classes"


def collapse_groups(labels: LabelSet, hierarchy: Hierarchy, names: Iterable[str]) -> Collapse:
    """The classes that are left when the groups of these names are one class each.

    `ALL_GROUPS` names all outermost groups. An order of the classes is kept where every
    collapsed group is a run of neighbours in it; otherwise what is left has no order that
    distances could be measured along. Raises `InvalidInput` for a group there is none of.
    """
    wanted = {
        group.name
        for name in names
        for group in (hierarchy.groups if name == ALL_GROUPS else [hierarchy.group_named(name)])
    }
    collapsed = tuple(
        group
        for name, group in hierarchy.by_name.items()
        if name in wanted and not any(each.name in wanted for each in hierarchy.parents[name])
    )
    unit_of = {name: group.name for group in collapsed for name in group.classes}
    units = [unit_of.get(name, name) for name in labels.names]
    names_left = tuple(dict.fromkeys(units))
    index = {name: code for code, name in enumerate(names_left)}
    places = tuple(index[unit] for unit in units)
    keeps_order = labels.has_declared_order and list(places) == sorted(places)
    left = LabelSet(names_left, ordinal=labels.ordinal and keeps_order, inferred=not keeps_order)
    return Collapse(left, places, collapsed)
