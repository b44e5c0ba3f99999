"""Questions about groups of classes: members of a group are as good as each other."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.services.examples.selection import ExampleQuestion, Kind, matches, wanted

LABELS = LabelSet.declared(["cat", "dog", "car", "plane"])
HIERARCHY = Hierarchy.declared(
    {"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}, LABELS
)
# Every pair of classes once, and each answer once without a label.
ACTUAL = np.repeat(np.arange(5, dtype=np.uint8), 4)
PREDICTED = np.tile(np.arange(4, dtype=np.uint8), 5)


def found(question: ExampleQuestion) -> set[tuple[str, str]]:
    what = wanted(question, LABELS, HIERARCHY)
    names = (*LABELS.names, "")
    chosen = np.flatnonzero(matches(what, ACTUAL, PREDICTED, len(LABELS)))
    return {(names[ACTUAL[at]], names[PREDICTED[at]]) for at in chosen}


def test_a_cell_of_groups_holds_the_cells_of_their_classes() -> None:
    cell = found(ExampleQuestion("animal", "vehicle"))

    assert cell == {(a, p) for a in ("cat", "dog") for p in ("car", "plane")}
    assert found(ExampleQuestion("animal", "car")) == {("cat", "car"), ("dog", "car")}
    assert len(found(ExampleQuestion("animal", "animal"))) == 4


def test_what_is_wrong_about_a_group_lies_outside_it() -> None:
    missed = found(ExampleQuestion(actual="animal"))
    alarms = found(ExampleQuestion(predicted="vehicle"))

    assert missed == {(a, p) for a in ("cat", "dog") for p in ("car", "plane")}
    assert alarms == missed
    assert found(ExampleQuestion(actual="animal", kind=Kind.RIGHT)) == {
        (a, p) for a in ("cat", "dog") for p in ("cat", "dog")
    }


def test_without_a_group_every_class_is_its_own() -> None:
    assert len(found(ExampleQuestion())) == 12
    assert found(ExampleQuestion(actual="cat")) == {("cat", p) for p in ("dog", "car", "plane")}


def test_answers_of_a_group_without_a_label() -> None:
    question = ExampleQuestion(predicted="animal", kind=Kind.UNLABELLED)

    assert found(question) == {("", "cat"), ("", "dog")}


@pytest.mark.parametrize(("actual", "predicted"), [("vehicle", "road"), ("cat", "animal")])
def test_something_and_what_it_is_in_have_no_cell(actual: str, predicted: str) -> None:
    with pytest.raises(InvalidInput, match="is part of the other"):
        found(ExampleQuestion(actual, predicted))


def test_names_of_no_class_and_no_group_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'plant' is not one of"):
        found(ExampleQuestion(actual="plant"))
