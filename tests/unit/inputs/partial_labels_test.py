"""Labels with gaps, in every form in which they come."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.partial_labels import (
    blanks_as_missing,
    count_labelled,
    encode_partial_labels,
    in_narrowest_type,
    nothing_labelled,
)

LETTERS = LabelSet(("a", "b"))
DIGITS = LabelSet(("0", "1"))


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b"],
        ["a", float("nan"), "b"],
        (letter for letter in ("a", None, "b")),
        np.array(["a", None, "b"], dtype=object),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="category"),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
        pa.chunked_array([["a"], [None, "b"]]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_a_missing_label_has_the_code_after_the_last_class(values: Iterable[object]) -> None:
    assert encode_partial_labels(values, LETTERS, field="labels").tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    "values",
    [
        [0, None, 1],
        pd.Series([0, None, 1], dtype="Int64"),
        pa.array([0, None, 1]),
        [0.0, None, 1.0],
        pd.Series([0, None, 1]),
    ],
)
def test_whole_numbers_may_have_gaps_too(values: object) -> None:
    assert encode_partial_labels(values, DIGITS, field="labels").tolist() == [0, 2, 1]


@pytest.mark.parametrize("values", [["a", None, None, "c"], pa.array(["a", None, None, "c"])])
def test_an_unknown_label_behind_gaps_is_found_at_its_own_index(values: object) -> None:
    with pytest.raises(InvalidInput, match="'c' at index 3 is not one of the 2 labels"):
        encode_partial_labels(values, LETTERS, field="labels")


def test_all_labels_may_be_missing() -> None:
    assert encode_partial_labels([None, None], LETTERS, field="labels").tolist() == [2, 2]
    assert encode_partial_labels([np.nan], LETTERS, field="labels").tolist() == [2]


@pytest.mark.parametrize("values", [[0.5, None], ["a", 3], 5, "abc", [["a"], ["b"]]])
def test_what_is_no_label_is_refused(values: object) -> None:
    with pytest.raises(InvalidInput):
        encode_partial_labels(values, DIGITS, field="labels")


def test_equal_content_has_equal_types() -> None:
    names = LabelSet.numbered(256)

    whole = encode_partial_labels([0, 255], names, field="labels")
    partly = encode_partial_labels([0, None], names, field="labels")

    assert (whole.dtype.name, partly.dtype.name) == ("uint8", "uint16")
    completed = partly.copy()
    completed[1] = 255
    assert in_narrowest_type(completed, 256).dtype.name == "uint8"


def test_nothing_labelled_counts_as_nothing() -> None:
    assert count_labelled(nothing_labelled(5, 3), 3) == 0
    assert count_labelled(np.array([0, 3, 2], np.uint8), 3) == 2


@pytest.mark.parametrize(
    "values", [pa.array(["a", ""], pa.large_string()), ["a", ""]], ids=["arrow", "list"]
)
def test_an_empty_cell_is_a_missing_label_unless_it_is_a_class(values: object) -> None:
    with_blank = LabelSet(("", "a"))

    def codes(labels: LabelSet) -> list[int]:
        read = blanks_as_missing(values, labels)
        found: list[int] = encode_partial_labels(read, labels, field="labels").tolist()
        return found

    assert codes(LETTERS) == [0, 2]
    assert codes(with_blank) == [1, 0]


def test_numbers_out_of_a_file_have_no_blanks() -> None:
    numbers = pa.array([0, 1])

    assert blanks_as_missing(numbers, DIGITS) is numbers
