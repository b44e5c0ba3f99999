"""A hierarchy is a forest of named groups over classes, and says in words when it is none."""

from __future__ import annotations

import pytest

from offdiag.domain.hierarchy import MAX_DEPTH, Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput

LABELS = LabelSet.declared(["cat", "dog", "car", "plane", "bike", "other"])
GIVEN = {
    "vehicle": ["bike", {"road": ["car"]}, {"air": ["plane"]}],
    "animal": {"pet": ["cat", "dog"]},
}


def test_groups_hold_classes_and_groups_at_any_depth() -> None:
    hierarchy = Hierarchy.declared(GIVEN, LABELS)

    assert hierarchy.group_named("vehicle").classes == ("bike", "car", "plane")
    assert [group.name for group in hierarchy.parents["cat"]] == ["animal", "pet"]
    assert [group.name for group in hierarchy.parents["road"]] == ["vehicle"]
    assert list(hierarchy.by_name) == ["vehicle", "road", "air", "animal", "pet"]
    assert "other" not in hierarchy.parents


def test_its_order_is_as_declared_and_the_rest_comes_last() -> None:
    order = Hierarchy.declared(GIVEN, LABELS).order(LABELS)

    assert [LABELS.names[code] for code in order] == [
        *("bike", "car", "plane"),
        *("cat", "dog"),
        "other",
    ]


def test_what_is_given_and_what_is_stored_say_the_same() -> None:
    hierarchy = Hierarchy.declared(GIVEN, LABELS)

    assert hierarchy.to_dict() == GIVEN
    assert list(hierarchy.to_dict()) == list(GIVEN)
    assert Hierarchy.declared(hierarchy.to_dict(), LABELS) == hierarchy
    assert Hierarchy.restored(hierarchy.to_list()) == hierarchy


def test_numbers_are_the_labels_they_are_written_as() -> None:
    hierarchy = Hierarchy.declared({"even": [0, 2], "odd": (1,)}, LabelSet.numbered(3))

    assert hierarchy.to_dict() == {"even": ["0", "2"], "odd": ["1"]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["cat"], "list is not a mapping"),
        ({}, "there is no group in it"),
        ({"animal": []}, "group 'animal' is empty"),
        ({"animal": "cat"}, "holds 'cat', which is neither a list nor a mapping"),
        ({"animal": ["wolf"]}, "'wolf' is not one of the 6 declared labels"),
        ({"animal": ["cat", "cat"]}, "class 'cat' is in 'animal' and in 'animal'"),
        ({"animal": ["cat"], "pet": ["cat"]}, "class 'cat' is in 'animal' and in 'pet'"),
        ({"animal": {"pet": ["cat"]}, "pet": ["dog"]}, "two groups are called 'pet'"),
        ({"cat": ["dog"]}, "'cat' is a class and cannot name a group as well"),
        ({"*": ["dog"]}, "a group is called '\\*'"),
        ({" ": ["dog"]}, "a group is called ' '"),
        ({1.5: ["dog"]}, "is not a label"),
        ({"animal": [1.5]}, "is not a label"),
    ],
)
def test_what_is_no_hierarchy_is_refused_in_words(given: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        Hierarchy.declared(given, LABELS)

    assert refused.value.field == "hierarchy"
    assert refused.value.hint


def test_groups_lie_only_so_deep() -> None:
    inside: object = ["cat"]
    for level in range(MAX_DEPTH + 1):
        inside = {f"group {level}": inside}

    with pytest.raises(InvalidInput, match="more than 10 deep"):
        Hierarchy.declared(inside, LABELS)


def test_an_unknown_group_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="there is no group 'plant'") as refused:
        Hierarchy.declared(GIVEN, LABELS).group_named("plant")

    assert refused.value.hint is not None
    assert "Known groups: vehicle, road, air" in refused.value.hint
