"""Class hierarchies: classes in named groups, and groups in groups, as "cat" in "animal".

A hierarchy says nothing about which answers were right. It is a way to look at a matrix, so it may
be added late and changed, and no metric of the whole matrix depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.sentences import known_names
from offdiag.errors import InvalidInput

ALL_GROUPS = "*"
"""Stands for all outermost groups wherever groups are named, so no group may be called this."""
MAX_DEPTH = 10
_FIELD = "hierarchy"


@dataclass(frozen=True, slots=True)
class Group:
    """A named group; its members are classes (their names) and further groups, in order."""

    name: str
    members: tuple[Group | str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of all classes in the group, at any depth, in order."""
        return tuple(
            name
            for member in self.members
            for name in ((member,) if isinstance(member, str) else member.classes)
        )


@dataclass(frozen=True)
class Hierarchy:
    """A forest of groups over some of the classes of a label set.

    Every class is in at most one place, names of groups are unique, and no group has the name of a
    class. Classes outside all groups stand for themselves.
    """

    groups: tuple[Group, ...]

    @classmethod
    def declared(cls, given: object, labels: LabelSet) -> Hierarchy:
        """The hierarchy that a user gave, checked against the classes.

        `given` maps names of groups to their contents: a list of classes, or a mapping to further
        groups. A list may hold both, with groups as mappings. Raises `InvalidInput`.
        """
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"{type(given).__name__} is not a mapping.",
                field=_FIELD,
                hint='Give names of groups with their classes, as {"animal": ["cat", "dog"]}.',
            )
        found = cls(tuple(_groups(given, depth=1)))
        _require_sound(found, labels)
        return found

    @classmethod
    def restored(cls, stored: list[dict[str, Any]]) -> Hierarchy:
        """The hierarchy that `to_list` stored, without checking it again."""
        return cls(tuple(_restored(entry) for entry in stored))

    def to_list(self) -> list[dict[str, Any]]:
        """Plain values that keep their order even in a database whose mappings have none."""
        return [_listed(group) for group in self.groups]

    def to_dict(self) -> dict[str, Any]:
        """Plain values in the shape that `declared` accepts."""
        return {group.name: _contents(group) for group in self.groups}

    @cached_property
    def parents(self) -> Mapping[str, tuple[Group, ...]]:
        """The groups around each group and each grouped class, by name, outermost first."""
        return dict(_walk(self.groups, ()))

    @cached_property
    def by_name(self) -> Mapping[str, Group]:
        """Every group by its name, each before the groups inside it."""
        found: dict[str, Group] = {}
        waiting = list(reversed(self.groups))
        while waiting:
            group = waiting.pop()
            found[group.name] = group
            waiting.extend(m for m in reversed(group.members) if isinstance(m, Group))
        return found

    def order(self, labels: LabelSet) -> list[int]:
        """Codes of all classes, group by group; classes outside all groups come last."""
        grouped = [labels.index[name] for group in self.groups for name in group.classes]
        inside = set(grouped)
        return [*grouped, *(code for code in range(len(labels)) if code not in inside)]

    def group_named(self, name: str) -> Group:
        """The group of this name. Raises `InvalidInput` where there is none."""
        try:
            return self.by_name[name]
        except KeyError:
            raise InvalidInput(
                f"there is no group {name!r}.",
                field="collapse",
                hint=known_names("groups", self.by_name),
            ) from None


def _groups(given: Mapping[Any, Any], *, depth: int) -> Iterator[Group]:
    if depth > MAX_DEPTH:
        raise InvalidInput(
            f"groups lie in groups more than {MAX_DEPTH} deep.",
            field=_FIELD,
            hint="Leave out levels that are never collapsed.",
        )
    for key, inside in given.items():
        name = _group_name(key)
        members = tuple(_members(name, inside, depth=depth))
        if not members:
            raise InvalidInput(
                f"group {name!r} is empty.",
                field=_FIELD,
                hint="Name its classes, or leave it out.",
            )
        yield Group(name, members)


def _group_name(key: object) -> str:
    name = label_text(key, field_name=_FIELD)
    if not name.strip() or name == ALL_GROUPS:
        raise InvalidInput(
            f"a group is called {name!r}.",
            field=_FIELD,
            hint=f"Give it a name with letters; {ALL_GROUPS!r} means all groups.",
        )
    return name


def _members(name: str, inside: object, *, depth: int) -> Iterator[Group | str]:
    if isinstance(inside, Mapping):
        yield from _groups(inside, depth=depth + 1)
    elif isinstance(inside, Iterable) and not isinstance(inside, (str, bytes)):
        for member in inside:
            if isinstance(member, Mapping):
                yield from _groups(member, depth=depth + 1)
            else:
                yield label_text(member, field_name=_FIELD)
    else:
        raise InvalidInput(
            f"group {name!r} holds {inside!r}, which is neither a list nor a mapping.",
            field=_FIELD,
            hint="Give a list of classes, also for one class, or a mapping of further groups.",
        )


def _require_sound(hierarchy: Hierarchy, labels: LabelSet) -> None:
    if not hierarchy.groups:
        raise InvalidInput(
            "there is no group in it.", field=_FIELD, hint="Name groups, or leave it out."
        )
    place_of: dict[str, str] = {}
    groups: set[str] = set()
    waiting = list(hierarchy.groups)
    while waiting:
        group = waiting.pop(0)
        _require_new_name(group.name, groups, labels)
        groups.add(group.name)
        for member in group.members:
            if isinstance(member, Group):
                waiting.append(member)
                continue
            labels.code_of(member, field_name=_FIELD)
            if member in place_of:
                raise InvalidInput(
                    f"class {member!r} is in {place_of[member]!r} and in {group.name!r}.",
                    field=_FIELD,
                    hint="Leave it only in the group it is counted in.",
                )
            place_of[member] = group.name


def _require_new_name(name: str, groups: set[str], labels: LabelSet) -> None:
    if name in groups:
        raise InvalidInput(
            f"two groups are called {name!r}.",
            field=_FIELD,
            hint="Names of groups must differ; rename one of them.",
        )
    if name in labels.index:
        raise InvalidInput(
            f"{name!r} is a class and cannot name a group as well.",
            field=_FIELD,
            hint=f"Call the group something else, such as {'any ' + name!r}.",
        )


def _walk(
    members: Iterable[Group | str], around: tuple[Group, ...]
) -> Iterator[tuple[str, tuple[Group, ...]]]:
    for member in members:
        if isinstance(member, str):
            yield member, around
        else:
            yield member.name, around
            yield from _walk(member.members, (*around, member))


def _listed(group: Group) -> dict[str, Any]:
    members = [each if isinstance(each, str) else _listed(each) for each in group.members]
    return {"group": group.name, "members": members}


def _restored(entry: Mapping[str, Any]) -> Group:
    members = (each if isinstance(each, str) else _restored(each) for each in entry["members"])
    return Group(entry["group"], tuple(members))


def _contents(group: Group) -> dict[str, Any] | list[Any]:
    inner = [each for each in group.members if isinstance(each, Group)]
    if len(inner) == len(group.members):
        return {each.name: _contents(each) for each in inner}
    return [
        each if isinstance(each, str) else {each.name: _contents(each)} for each in group.members
    ]


MOST_NAMED = 6
"""Most groups that a sentence names."""


@dataclass(frozen=True)
class Collapse:
    """Which classes are merged into which groups.

    `labels` names what remains, groups and single classes, each at the place of its first class.
    `places` has, for each of the K classes in label order, its code among `labels`. `groups` are
    those that are really collapsed, in the order of the hierarchy: a group inside a collapsed one
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
        """ "collapsed to 3 classes: animal (2 classes), vehicle (4 classes)"; at most 6 named."""
        named = [f"{each.name} ({_classes(len(each.classes))})" for each in self.groups]
        left_out = len(named) - MOST_NAMED
        if left_out > 0:
            named[MOST_NAMED:] = [f"{left_out} more groups" if left_out > 1 else "1 more group"]
        return f"collapsed to {_classes(len(self.labels))}: {', '.join(named)}"


def _classes(n: int) -> str:
    return f"{n} class" if n == 1 else f"{n} classes"


def collapse_groups(labels: LabelSet, hierarchy: Hierarchy, names: Iterable[str]) -> Collapse:
    """The classes that remain when each of the named groups becomes one class.

    `ALL_GROUPS` names all outermost groups. The order of the classes is kept if every collapsed
    group consists of neighbours in it; otherwise what remains has no order along which distances
    could be measured. Raises `InvalidInput` for a group that does not exist.
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
