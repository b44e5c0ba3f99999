"""Labels of every accepted kind become the same codes; anything else is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import (
    code_dtype,
    encode_labels,
    encode_pair,
    infer_labels,
    label_column,
)

TEXT_KINDS = {
    "list": ["b", "a", "b"],
    "tuple": ("b", "a", "b"),
    "numpy": np.array(["b", "a", "b"]),
    "numpy object": np.array(["b", "a", "b"], dtype=object),
    "pandas": pd.Series(["b", "a", "b"]),
    "pandas object": pd.Series(["b", "a", "b"], dtype=object),
    "pandas category": pd.Series(["b", "a", "b"], dtype="category"),
    "pandas index": pd.Index(["b", "a", "b"]),
    "polars": pl.Series(["b", "a", "b"]),
    "polars categorical": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
    "arrow": pa.array(["b", "a", "b"]),
    "arrow chunks": pa.chunked_array([["b"], ["a", "b"]]),
    "arrow dictionary": pa.array(["b", "a", "b"]).dictionary_encode(),
    "iterator": iter(["b", "a", "b"]),
}
if hasattr(np.dtypes, "StringDType"):
    TEXT_KINDS["numpy string dtype"] = np.array(["b", "a", "b"], dtype=np.dtypes.StringDType())


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_text_of_any_kind_becomes_codes(kind: str) -> None:
    codes = encode_labels(TEXT_KINDS[kind], LabelSet.declared(["a", "b"]), field="y_true")

    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.uint8


NUMBER_KINDS = {
    "list": [3, -1, 3],
    "numpy": np.array([3, -1, 3], dtype=np.int8),
    "numpy object": np.array([3, -1, 3], dtype=object),
    "numpy scalars": [np.int64(3), np.int64(-1), np.int64(3)],
    "pandas": pd.Series([3, -1, 3]),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([3, -1, 3])),
    "polars": pl.Series([3, -1, 3]),
    "arrow": pa.array([3, -1, 3]),
    "text": ["3", "-1", "3"],
}


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_whole_numbers_are_their_decimal_text(kind: str) -> None:
    pair = encode_pair(y_true=NUMBER_KINDS[kind], y_pred=NUMBER_KINDS[kind])

    assert pair.labels.names == ("-1", "3")
    assert pair.actual.tolist() == [1, 0, 1]


def test_booleans_are_two_labels() -> None:
    pair = encode_pair(y_true=[True, False], y_pred=np.array([False, False]))

    assert pair.labels.names == ("False", "True")
    assert pair.actual.tolist() == [1, 0]
    assert pair.predicted.tolist() == [0, 0]


@pytest.mark.parametrize("declared", [None, [0, 1], [False, True]])
@pytest.mark.parametrize(
    ("y_true", "y_pred"),
    [
        ([True, False, True], [1, 0, 0]),
        ([1, 0, 1], np.array([True, False, False])),
        (["True", "False", "True"], pd.Series([1, 0, 0])),
        (np.array([True, False, True]), [1.0, 0.0, 0.0]),
        (pa.array(["1", "0", "1"]).dictionary_encode(), [True, False, False]),
    ],
)
def test_booleans_beside_0_and_1_are_two_classes(
    y_true: object, y_pred: object, declared: list[object] | None
) -> None:
    pair = encode_pair(y_true=y_true, y_pred=y_pred, labels=declared)

    assert pair.labels.names in {("0", "1"), ("False", "True")}
    assert pair.actual.tolist() == [1, 0, 1]
    assert pair.predicted.tolist() == [1, 0, 0]


def test_the_truth_names_truth_values() -> None:
    assert infer_labels(("y_true", [True]), ("y_pred", [1, 0])).names == ("False", "True")
    assert infer_labels(("y_true", [1, 0]), ("y_pred", [True])).names == ("0", "1")


@pytest.mark.parametrize(
    "floats",
    [
        [2.0, 0.0, 1.0],
        np.array([2, 0, 1], dtype=np.float16),
        pd.Series([2.0, 0.0, 1.0]),
        pl.Series([2.0, 0.0, 1.0]),
        pa.array([2.0, 0.0, 1.0]),
    ],
)
def test_whole_floats_are_integers_and_are_told_apart(floats: object) -> None:
    pair = encode_pair(y_true=[2, 0, 1], y_pred=floats)

    assert pair.labels.names == ("0", "1", "2")
    assert pair.predicted.tolist() == [2, 0, 1]
    assert pair.whole_floats == ("y_pred",)


SCORES = [0.125, 0.5, 1.0]


@pytest.mark.parametrize("declared", [None, [0, 1]])
@pytest.mark.parametrize(
    "y_pred",
    [
        SCORES,
        np.array(SCORES, dtype=np.float32),
        pd.Series(SCORES),
        pa.array(SCORES),
        [str(score) for score in SCORES],
        np.array([SCORES] * 3),
        np.array([SCORES] * 3)[:, :1],
        [SCORES] * 3,
        [np.array(SCORES, dtype=np.float32)] * 3,
        [list(np.array(SCORES, dtype=np.float32))] * 3,
        pd.DataFrame({"0": SCORES, "1": SCORES}),
        [1.0, 0.5, float("inf")],
    ],
)
def test_scores_in_place_of_predictions_are_named_so(
    y_pred: object, declared: list[object] | None
) -> None:
    with pytest.raises(InvalidInput) as refused:
        encode_pair(y_true=[0, 1, 1], y_pred=y_pred, labels=declared)

    assert refused.value.field == "y_pred"
    assert "regression or scores" in str(refused.value)
    assert "did you mean y_score" in str(refused.value).lower()
    assert "astype" not in str(refused.value)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "near"),
    [
        (["cat", "dog"], ["Cat", "dog "], r"'cat' and 'Cat' \(case\); 'dog' and 'dog ' \(white"),
        ([1, 0], ["1.0", "0.0"], r"'0' and '0.0' \(kind\); '1' and '1.0' \(kind\)"),
        (["true"], [True], r"'true' and 'True' \(case\)"),
        (["01"], [1], r"'01' and '1' \(kind\)"),
        (["caf\u00e9"], ["cafe\u0301"], r"'caf\u00e9' and 'cafe\\u0301' \(Unicode form\)"),
        (["cat"], ["cat\u200b"], r"'cat' and 'cat\\u200b' \(invisible characters\)"),
        (["cat"], ["\ufeffCAT "], r".*\(invisible characters, white space, case\)"),
    ],
)
def test_predictions_that_share_no_label_with_the_truth_are_refused_with_near_misses(
    y_true: list[object], y_pred: list[object], near: str
) -> None:
    with pytest.raises(InvalidInput, match=f"no label of y_pred .*Near misses: {near}"):
        encode_pair(y_true=y_true, y_pred=y_pred)


def test_wide_integer_labels_are_found_by_bisection() -> None:
    labels = LabelSet.declared([5, 10**12, -(10**12)])

    codes = encode_labels(np.array([10**12, 5, -(10**12)]), labels, field="y_true")

    assert codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize("wrong", [4, 11, -7, 10**18])
def test_an_unknown_number_is_named_with_its_index(wrong: int) -> None:
    labels = LabelSet.declared([5, 10])

    with pytest.raises(InvalidInput, match=rf"y_pred: the value '{wrong}' at index 1"):
        encode_labels(np.array([5, wrong]), labels, field="y_pred")


@pytest.mark.parametrize(
    ("labels", "dtype", "wrong"), [([-1, 0, 1], "u1", 255), ([300, 400], "i1", 5)]
)
def test_an_unknown_number_is_named_where_its_type_holds_no_label(
    labels: list[int], dtype: str, wrong: int
) -> None:
    codes = np.array([wrong], dtype=dtype)

    with pytest.raises(InvalidInput, match=f"the value '{wrong}' at index 0 is not one of"):
        encode_labels(codes, LabelSet.declared(labels), field="y_pred")


def test_a_number_beyond_64_signed_bits_is_unknown_not_wrapped() -> None:
    labels = LabelSet.declared([5, -(2**63)])

    with pytest.raises(InvalidInput, match="the value '9223372036854775808' at index 0"):
        encode_labels(np.array([2**63], dtype=np.uint64), labels, field="y_pred")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("spread", ["ends", "beside the lower end", "beside the upper end"])
def test_whole_numbers_are_told_apart_at_the_ends_of_every_type(dtype: str, spread: str) -> None:
    ends = np.iinfo(dtype)
    lowest, highest = int(ends.min), int(ends.max)
    numbers = {
        "ends": [highest, lowest, highest],
        "beside the lower end": [lowest + 3, lowest, lowest + 1, lowest],
        "beside the upper end": [highest, highest - 3, highest - 1],
    }[spread]

    labels = infer_labels(("y_true", np.array(numbers, dtype=dtype)))

    assert labels.names == tuple(str(number) for number in sorted(set(numbers)))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8"])
def test_codes_of_whole_numbers_are_their_places(dtype: str) -> None:
    rng = np.random.default_rng(5)
    numbers = rng.integers(-100 if dtype[0] == "i" else 0, 100, 500).astype(dtype)
    labels = infer_labels(("y_true", numbers))

    codes = encode_labels(numbers, labels, field="y_true")

    assert codes.tolist() == np.unique(numbers, return_inverse=True)[1].tolist()


class Bfloat16Tensor:
    """As torch has one: numpy reads it after `float` alone, which says nothing of its 16 bits."""

    dtype = "torch.bfloat16"
    requires_grad = False
    ndim = 1

    def __init__(self, values: list[int]) -> None:
        self._values = np.array(values, dtype=np.float32)

    def detach(self) -> Bfloat16Tensor:
        return self

    def cpu(self) -> Bfloat16Tensor:
        return self

    def float(self) -> np.ndarray[Any, Any]:
        return self._values

    def __array__(self) -> np.ndarray[Any, Any]:
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_floats_of_sixteen_bits_that_numpy_lacks_hold_few_whole_numbers() -> None:
    read = label_column(Bfloat16Tensor([1, 255]), field="y_pred")

    np.testing.assert_array_equal(read.values, [1, 255])
    with pytest.raises(InvalidInput, match="256 at index 1 is a bfloat16, and such floats"):
        label_column(Bfloat16Tensor([1, 256]), field="y_pred")


def test_an_unknown_text_is_named_with_its_index() -> None:
    with pytest.raises(InvalidInput, match="the value 'c' at index 2 is not one of the 2 labels"):
        encode_labels(["a", "b", "c"], LabelSet.declared(["a", "b"]), field="y_pred")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "there are no values"),
        ([0, "a"], "of mixed types"),
        ([2**64, 1], "a whole number has more than 64 bits. Give the values as text"),
        ([2**63, 1], "a whole number has more than 64 bits. Give the values as text"),
        (np.array(1), r"the shape is \(\)"),
        ([1.5, 2.0], "such as 1.5: this looks like regression or scores"),
        ([1.0, float("nan")], "index 1 is missing"),
        (["a", None], "index 1 is missing"),
        (np.array([1, 2049], dtype=np.float16), "2048 at index 1 is a float16, and such floats"),
        (np.array([1, 2**24 + 1], dtype=np.float32), "16777216 at index 1 is a float32"),
        ([1.0, float(2**53)], "9007199254740992 at index 1 is a float64"),
        ([np.float16(1), np.float16(2049)], "2048 at index 1 is a float16"),
        (np.array([np.float32(2**24 + 1)], dtype=object), "16777216 at index 0 is a float32"),
        (pd.Series(["a", None, "b"]), "index 1 is missing"),
        ("abc", "is not an array"),
        (5, "is not an array"),
        ([["a"], ["b"]], "cannot be used"),
        (np.zeros((2, 2), dtype=int), r"the shape is \(2, 2\)"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "cannot be used"),
        ([np.datetime64("2020-01-01", "ns")], "type timestamp.* cannot be used"),
        ([Path("a"), Path("b")], "values of type PosixPath cannot be used"),
        (["a\0b"], "NUL"),
        (["x" * 501], "501 characters"),
    ],
)
def test_unusable_labels_are_refused_in_words(values: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence) as caught:
        encode_pair(y_true=values, y_pred=values)

    assert caught.value.field in {"y_true", "y_pred"}
    assert caught.value.hint


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy has no text of its own")
def test_a_gap_in_text_of_numpy_is_a_missing_value() -> None:
    gap = np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None))

    with pytest.raises(InvalidInput, match="the value at index 1 is missing"):
        encode_pair(y_true=["a", "b"], y_pred=gap, labels=["a", "b"])


def test_unequal_lengths_are_refused_with_both() -> None:
    with pytest.raises(InvalidInput, match="y_true has 2 values, y_pred has 3"):
        encode_pair(y_true=["a", "b"], y_pred=["a", "b", "a"])


def test_an_order_needs_declared_labels() -> None:
    with pytest.raises(InvalidInput, match="no labels were declared"):
        encode_pair(y_true=["a"], y_pred=["a"], ordinal=True)


def test_codes_take_the_narrowest_type() -> None:
    assert [code_dtype(n).str for n in (2, 256, 257, 65_537)] == ["|u1", "|u1", "<u2", "<u4"]


@given(st.lists(st.text(max_size=5).filter(lambda text: "\0" not in text), min_size=1))
def test_codes_name_the_labels_they_came_from(values: list[str]) -> None:
    pair = encode_pair(y_true=values, y_pred=values)

    assert [pair.labels.names[code] for code in pair.actual] == values
