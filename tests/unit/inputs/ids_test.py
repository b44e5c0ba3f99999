"""Sample identifiers keep their text, and whole numbers are one kind however they come."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import (
    SampleIds,
    aligned,
    common_places,
    joined,
    require_distinct,
    sample_ids,
    update_digest,
)


def digest_of(ids: SampleIds) -> str:
    digest = hashlib.sha256()
    update_digest(digest, ids)
    return digest.hexdigest()


def test_decimal_text_and_numbers_are_the_same_identifiers() -> None:
    as_text, as_numbers = sample_ids(["10", "9"]), sample_ids([10, 9])

    assert as_text.kind == as_numbers.kind == "int"
    assert digest_of(as_text) == digest_of(as_numbers)


@pytest.mark.parametrize("text", ["007", "1.0", "-0", "", " 1", "1e3", "9" * 19])
def test_text_that_is_no_plain_number_stays_text(text: str) -> None:
    ids = sample_ids(["1", text])

    assert ids.kind == "text"
    assert ids.to_list() == ["1", text]


def test_order_is_by_value_for_numbers_and_by_code_point_for_text() -> None:
    assert sample_ids([10, 9, 100]).order().tolist() == [1, 0, 2]
    assert sample_ids(["b10", "b9", "B"]).order().tolist() == [2, 0, 1]


def test_a_doubled_identifier_is_named_with_both_places() -> None:
    ids = sample_ids(["x", "y", "x"])

    with pytest.raises(InvalidInput, match="'x' occurs twice, at index 0 and 2"):
        require_distinct(ids, ids.order(), field="sample_ids")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, 2.0], "ambiguous"),
        ([True, False], "ambiguous"),
        (np.array([2**63], dtype=np.uint64), "larger than"),
        (["x" * 501], "501 characters"),
        (["a", None], "missing"),
    ],
)
def test_unusable_identifiers_are_refused_in_words(values: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        sample_ids(values)


def test_batches_of_numbers_and_text_join_as_text() -> None:
    whole = joined([sample_ids([1, 2]), sample_ids(["a"])])

    assert whole.kind == "text"
    assert whole.to_list() == ["1", "2", "a"]


def test_the_digest_tells_where_one_identifier_ends() -> None:
    assert digest_of(sample_ids(["ab", "c"])) != digest_of(sample_ids(["a", "bc"]))


@given(st.lists(st.text(max_size=4), min_size=1, unique=True))
def test_sorted_identifiers_do_not_depend_on_the_order_they_came_in(values: list[str]) -> None:
    forward, backward = sample_ids(values), sample_ids(values[::-1])

    assert forward.take(forward.order()).to_list() == backward.take(backward.order()).to_list()


def test_text_is_looked_for_inside_identifiers_and_is_no_pattern() -> None:
    ids = sample_ids(["img.7", "img-7", "IMG.7", "x.img.77"])

    assert ids.named("img.7").tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "found"), [("12", [False, True, False]), ("-3", [False, False, True])]
)
def test_a_number_matches_as_a_whole(text: str, found: list[bool]) -> None:
    assert sample_ids([112, 12, -3]).named(text).tolist() == found


@pytest.mark.parametrize("text", ["", "a", "1.0", "012", "99999999999999999999"])
def test_what_is_no_identifier_matches_no_number(text: str) -> None:
    assert not sample_ids([1, 12]).named(text).any()


def test_common_identifiers_are_found_in_every_set() -> None:
    sets = [sample_ids([9, 3, 5, 1]), sample_ids([1, 2, 3, 9]), sample_ids([3, 9])]

    places = common_places(sets)

    named = [each.take(at).to_list() for each, at in zip(sets, places, strict=True)]
    assert named == [[9, 3]] * 3


def test_numbers_are_found_among_text() -> None:
    sets = [sample_ids([1, 2, 3]), sample_ids(["b", "3", "1"])]

    places = common_places(sets)

    assert [at.tolist() for at in places] == [[0, 2], [2, 1]]


def test_sets_may_have_nothing_in_common() -> None:
    places = common_places([sample_ids(["a"]), sample_ids(["b", "c"])])

    assert [at.tolist() for at in places] == [[], []]


def test_a_set_has_everything_in_common_with_itself() -> None:
    (places,) = common_places([sample_ids(["a", "b"])])

    assert places.tolist() == [0, 1]


FIRST = pd.Series(["a", "b", "c"], index=[30, 10, 20])
MOVED = pd.Series([3, 1, 2], index=[20, 30, 10])
OTHER = pd.Series([1, 2, 3])
SHUFFLED = pd.Series(["a", "b", "c"], index=[2, 0, 1])
DOUBLED = pd.Series([1, 2, 3], index=[30, 30, 10])


@pytest.mark.parametrize(
    "other",
    [
        pd.Series([1, 2, 3], index=FIRST.index.copy()),
        np.array([1, 2, 3]),
        [1, 2, 3],
        pl.Series([1, 2, 3]),
        pd.Index([1, 2, 3]),
        None,
    ],
)
def test_equal_indexes_and_arrays_without_one_are_left_as_they_are(other: object) -> None:
    assert aligned(y_true=FIRST, y_pred=other)["y_pred"] is other


def test_labels_that_stand_twice_do_no_harm_in_equal_indexes() -> None:
    same = DOUBLED + 1

    assert aligned(y_true=DOUBLED, y_pred=same)["y_pred"] is same


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        (
            {"y_true": FIRST, "y_pred": OTHER},
            "y_pred",
            "differs from that of y_true, for example in 0",
        ),
        (
            {"y_true": SHUFFLED, "y_pred": OTHER},
            "y_pred",
            "a new one of 0 to 2, and that of y_true",
        ),
        ({"y_pred": FIRST, "slices": {"n": OTHER}}, "slices['n']", "differs from that of y_pred"),
        ({"y_true": FIRST, "y_pred": DOUBLED}, "y_pred", "30 occurs more than once in .* y_pred"),
        (
            {"y_true": DOUBLED, "y_pred": DOUBLED[::-1]},
            "y_pred",
            "more than once in that of y_true|more than once in that of y_pred",
        ),
        ({"y_true": FIRST, "y_pred": OTHER.set_axis(list("xyz"))}, "y_pred", "for example in 'x'"),
        (
            {
                "y_true": FIRST,
                "y_pred": OTHER.set_axis(pd.MultiIndex.from_product([[1], [1, 2, 3]])),
            },
            "y_pred",
            r"for example in \(1, 1\)",
        ),
    ],
)
def test_indexes_that_cannot_be_paired_are_refused_with_both_ways_out(
    given: dict[str, Any], field: str, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as caught:
        aligned(**given)

    assert caught.value.field == field
    assert ".to_numpy()" in str(caught.value.hint)
    assert "sample_ids" in str(caught.value.hint)


def test_predictions_of_folds_are_brought_into_the_order_of_the_labels() -> None:
    assert aligned(y_true=OTHER, y_pred=SHUFFLED)["y_pred"].tolist() == ["b", "c", "a"]


def test_unequal_lengths_are_told_as_such() -> None:
    with pytest.raises(InvalidInput, match="y_true has 3 values, y_pred has 2"):
        aligned(y_true=FIRST, y_pred=MOVED[:2])


def test_identifiers_of_the_rows_stand_in_for_indexes_of_other_labels() -> None:
    found = aligned(y_true=FIRST, y_pred=OTHER, sample_ids=["p", "q", "r"])

    assert found["y_pred"] is OTHER


def test_an_array_does_not_say_which_of_two_orders_it_follows() -> None:
    with pytest.raises(InvalidInput, match="y_score has no index to say which order") as caught:
        aligned(y_true=FIRST, y_pred=MOVED, y_score=np.zeros(3))

    assert caught.value.field == "y_pred"


NUMBERED = pd.Series(["a", "b", "c"], index=[30, 10, 20])


@pytest.mark.parametrize(
    "ids",
    [
        [10, 20, 30],
        ["10", "20", "30"],
        np.array([10, 20, 30]),
        pl.Series([10, 20, 30]),
        pa.chunked_array([[10, 20], [30]]),
        pd.Index([10, 20, 30]),
    ],
)
@pytest.mark.parametrize("index", [[30, 10, 20], ["30", "10", "20"]])
def test_an_index_of_the_identifiers_in_another_order_is_refused(ids: Any, index: Any) -> None:
    found = NUMBERED.set_axis(index)

    for arguments in ({"y_pred": found}, {"y_true": found, "y_pred": found}):
        with pytest.raises(InvalidInput, match="has the identifiers in another order") as caught:
            aligned(**arguments, sample_ids=ids)

        assert caught.value.field == next(iter(arguments))


def test_numbers_of_rows_in_another_order_than_the_identifiers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="has the identifiers in another order"):
        aligned(y_true=SHUFFLED, y_pred=SHUFFLED, sample_ids=range(3))


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        ([30, 10, 20], [30, 10, 20]),
        ([30, 10, 20], ["30", "10", "20"]),
        ([30, 10, 20], [7, 8, 9]),
        ([30, 10, 20], [10, 20, 40]),
        ([2, 0, 1], [2, 0, 1]),
        # As of predictions in the order of the identifiers, which pandas numbers.
        (range(3), [2, 0, 1]),
        ([0, 1, 2], [2, 0, 1]),
        ([0.5, 1.5, 2.5], [2, 0, 1]),
    ],
)
def test_an_index_that_does_not_contradict_the_identifiers_is_left(index: Any, ids: Any) -> None:
    found = NUMBERED.set_axis(index)

    assert aligned(y_true=found, y_pred=found, sample_ids=ids)["y_pred"] is found
