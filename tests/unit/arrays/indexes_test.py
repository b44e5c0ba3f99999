"""Arrays with an index belong together by it, and not by position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offdiag.arrays.indexes import aligned
from offdiag.errors import InvalidInput

FIRST = pd.Series(["a", "b", "c"], index=[30, 10, 20])
MOVED = pd.Series([3, 1, 2], index=[20, 30, 10])
OTHER = pd.Series([1, 2, 3])
DOUBLED = pd.Series([1, 2, 3], index=[30, 30, 10])


def test_the_same_labels_in_another_order_are_paired_by_the_index() -> None:
    found = aligned(y_true=FIRST, y_pred=MOVED, y_score=MOVED.to_frame(), slices={"n": MOVED})

    assert found["y_true"] is FIRST
    assert found["y_pred"].tolist() == [1, 2, 3]
    assert found["y_score"][0].tolist() == [1, 2, 3]
    assert found["slices"]["n"].tolist() == [1, 2, 3]


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
        ({"y_true": FIRST, "y_pred": OTHER}, "y_pred", "other labels than that of y_true, 0 for"),
        ({"y_pred": FIRST, "slices": {"n": OTHER}}, "slices['n']", "than that of y_pred"),
        ({"y_true": FIRST, "y_pred": DOUBLED}, "y_pred", "30 occurs more than once in .* y_pred"),
        (
            {"y_true": DOUBLED, "y_pred": DOUBLED[::-1]},
            "y_pred",
            "more than once in that of y_true|more than once in that of y_pred",
        ),
        ({"y_true": FIRST, "y_pred": OTHER.set_axis(list("xyz"))}, "y_pred", "'x' for one"),
        (
            {
                "y_true": FIRST,
                "y_pred": OTHER.set_axis(pd.MultiIndex.from_product([[1], [1, 2, 3]])),
            },
            "y_pred",
            r"\(1, 1\) for one",
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
