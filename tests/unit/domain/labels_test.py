"""A label set is distinct text in a stated order."""

from __future__ import annotations

import re

import numpy as np
import pytest

from offdiag.domain.labels import MAX_CLASSES, LabelSet, label_text, sort_key
from offdiag.errors import InvalidInput


def test_numbers_and_their_text_are_one_label() -> None:
    with pytest.raises(InvalidInput, match="'7' occurs more than once"):
        LabelSet.declared([7, "7"])


def test_order_and_ordinality_change_the_digest_and_inference_does_not() -> None:
    declared = LabelSet.declared(["a", "b"])

    assert declared.digest == LabelSet.inferred_from(["b", "a"]).digest
    assert declared.digest != LabelSet.declared(["b", "a"]).digest
    assert declared.digest != LabelSet.declared(["a", "b"], ordinal=True).digest


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("a", "a"),
        (7, "7"),
        (True, "True"),
        (np.int64(7), "7"),
        (np.bool_(False), "False"),
        (1.0, "1"),
        (np.float32(-1), "-1"),
    ],
)
def test_a_label_is_the_text_python_writes(label: object, text: str) -> None:
    assert label_text(label) == text


@pytest.mark.parametrize("label", [1.5, None, float("nan"), b"a", ("a",), np.float32(0.5)])
def test_other_types_are_no_labels(label: object) -> None:
    with pytest.raises(InvalidInput, match="is not a label"):
        label_text(label)


@pytest.mark.parametrize(
    ("names", "positive"),
    [
        (("0", "1"), "1"),
        (("1", "0"), "1"),
        (("-1", "1"), "1"),
        (("False", "True"), "True"),
        (("no", "yes"), None),
        (("1", "2"), None),
        (("0", "1", "2"), None),
        (("1",), None),
    ],
)
def test_labels_of_two_truth_values_have_a_positive_class(
    names: tuple[str, ...], positive: str | None
) -> None:
    assert LabelSet(names).conventional_positive == positive


def test_two_truth_values_are_found_by_either_name() -> None:
    assert LabelSet.declared([1, 0]).code_of(True) == 0
    assert LabelSet.declared([False, True]).code_of("1") == 1
    with pytest.raises(InvalidInput, match="'True' is not one of"):
        LabelSet.declared([0, 1, 2]).code_of(True)


@pytest.mark.parametrize(
    ("unknown", "way_out"),
    [
        ("Cat", r"'cat' and 'Cat' \(case\)"),
        ("0.25", "did you mean y_score"),
        ("x", "^Declare it"),
        ("1", "^If classes are numbered from 0 in this order, give their names instead"),
        ("2", "^Declare it"),
        ("-100", "^PyTorch ignores samples of this class: leave them out"),
    ],
)
def test_an_unknown_label_comes_with_what_may_be_meant(unknown: str, way_out: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        LabelSet.declared(["cat", "dog"]).code_of(unknown)

    assert refused.value.hint is not None
    assert re.search(way_out, refused.value.hint)


@pytest.mark.parametrize("names", [(), tuple(str(i) for i in range(MAX_CLASSES + 1))])
def test_none_and_too_many_classes_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput):
        LabelSet(names)


def test_sorting_puts_whole_numbers_first_and_by_value() -> None:
    words = ["b", "10", "9", "-2", "007", "a"]

    assert sorted(words, key=sort_key) == ["-2", "9", "10", "007", "a", "b"]


def test_a_single_value_is_no_list_of_labels() -> None:
    with pytest.raises(InvalidInput, match="int is not a list of labels in their order") as caught:
        LabelSet.declared(2)  # type: ignore[arg-type]

    assert caught.value.field == "labels"
