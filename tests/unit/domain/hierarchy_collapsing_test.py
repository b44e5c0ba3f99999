"""Collapsed groups are classes of a smaller label set, and nothing else changes."""

from __future__ import annotations

from offdiag.domain.hierarchy import ALL_GROUPS, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet

LABELS = LabelSet.declared(["cat", "car", "dog", "plane", "other"])
HIERARCHY = Hierarchy.declared(
    {"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}, LABELS
)


def test_what_is_left_stands_in_the_order_of_its_first_class() -> None:
    found = collapse_groups(LABELS, HIERARCHY, ["animal", "air"])

    assert found.labels.names == ("animal", "car", "air", "other")
    assert found.places == (0, 1, 0, 2, 3)
    assert [group.name for group in found.groups] == ["animal", "air"]


def test_a_group_inside_a_collapsed_one_changes_nothing() -> None:
    inner = collapse_groups(LABELS, HIERARCHY, ["road", "vehicle", "vehicle"])

    assert inner == collapse_groups(LABELS, HIERARCHY, ["vehicle"])
    assert [group.name for group in inner.groups] == ["vehicle"]


def test_all_groups_are_the_outermost_ones() -> None:
    found = collapse_groups(LABELS, HIERARCHY, [ALL_GROUPS])

    assert found == collapse_groups(LABELS, HIERARCHY, ["vehicle", "animal"])
    assert found.words == "collapsed to 3 classes: animal (2 classes), vehicle (2 classes)"


def test_an_order_survives_only_among_neighbours() -> None:
    sizes = LabelSet.declared(["xs", "s", "m", "l"], ordinal=True)
    hierarchy = Hierarchy.declared({"small": ["s", "xs"], "odd": ["m"], "even": ["l"]}, sizes)
    mixed = Hierarchy.declared({"ends": ["xs", "l"]}, sizes)

    kept = collapse_groups(sizes, hierarchy, [ALL_GROUPS]).labels
    lost = collapse_groups(sizes, mixed, [ALL_GROUPS]).labels

    assert (kept.names, kept.ordinal) == (("small", "odd", "even"), True)
    assert (lost.names, lost.has_declared_order) == (("ends", "s", "m"), False)


def test_an_inferred_order_stays_inferred() -> None:
    labels = LabelSet.inferred_from(["a", "b", "c"])
    hierarchy = Hierarchy.declared({"first": ["a", "b"]}, labels)

    assert not collapse_groups(labels, hierarchy, ["first"]).labels.has_declared_order
