"""Sets of labels in every accepted form become the same indicators."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.label_sets import (
    encode_sets,
    infer_set_labels,
    pack_column,
    pack_partial_column,
    set_text,
    sets_of_texts,
)
from offdiag.inputs.labels import hold_sets
from offdiag.metrics.multilabel.sets import is_known, unpack_sets

TABLE = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
SETS = [{"a", "c"}, set[str](), {"b"}]


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        [[True, False, True], [False, False, False], [False, True, False]],
        [[float(cell) for cell in row] for row in TABLE],
        [np.array(row) for row in TABLE],
        np.array(TABLE),
        np.array(TABLE, dtype=np.bool_),
        np.array(TABLE, dtype=np.float32),
        sparse.csr_array(np.array(TABLE)),
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE, columns=["a", "b", "c"]),
        pl.DataFrame(TABLE, schema=["a", "b", "c"], orient="row"),
        SETS,
        [frozenset(members) for members in SETS],
        [["c", "a"], [], ["b"]],
        [("a", "c"), (), ("b",)],
        pd.Series([["a", "c"], [], ["b"]]),
        pl.Series([["a", "c"], [], ["b"]]),
        pa.array([["a", "c"], [], ["b"]]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_means_the_same(given: Any) -> None:
    sets = encode_sets(y_true=given, y_pred=given, labels=["a", "b", "c"])

    assert sets.actual.tolist() == np.array(TABLE, dtype=np.bool_).tolist()
    assert sets.predicted.tolist() == sets.actual.tolist()
    assert sets.labels.names == ("a", "b", "c")


def test_labels_found_in_sets_are_sorted_and_marked_inferred() -> None:
    sets = encode_sets(y_true=[{10, 9}, set()], y_pred=[{2}, {9}])

    assert sets.labels.names == ("2", "9", "10")
    assert sets.labels.inferred
    assert sets.actual.tolist() == [[False, True, True], [False, False, False]]
    assert sets.predicted.tolist() == [[True, False, False], [False, True, False]]


def test_columns_without_names_are_numbered() -> None:
    assert encode_sets(y_true=TABLE, y_pred=TABLE).labels.names == ("0", "1", "2")


def test_columns_in_another_order_are_refused() -> None:
    frame = pd.DataFrame(TABLE, columns=["sky", "sea", "sun"])

    with pytest.raises(InvalidInput, match="label order") as caught:
        encode_sets(y_true=frame, y_pred=frame[["sea", "sky", "sun"]])

    assert caught.value.field == "y_pred"


def test_numbers_that_are_names_of_columns_are_labels() -> None:
    frame = pd.DataFrame(TABLE, columns=[7, 3, 1])

    assert encode_sets(y_true=frame, y_pred=np.array(TABLE)).labels.names == ("7", "3", "1")
    for others in ([1, 3, 7], [7, 3, 2]):
        with pytest.raises(InvalidInput, match="are not the labels") as caught:
            encode_sets(y_true=frame, y_pred=pd.DataFrame(TABLE, columns=others))
        assert caught.value.field == "y_pred"
    with pytest.raises(InvalidInput, match="are not the labels"):
        encode_sets(y_true=frame, y_pred=frame, labels=[1, 3, 7])


@pytest.mark.parametrize(("columns", "others"), [([0, 1, 2], [2, 1, 0]), ([2, 1, 0], [0, 1, 2])])
def test_columns_0_1_2_beside_2_1_0_are_no_places(columns: list[int], others: list[int]) -> None:
    frames = [pd.DataFrame(TABLE, columns=names) for names in (columns, others)]

    with pytest.raises(InvalidInput, match="are not the labels"):
        encode_sets(y_true=frames[0], y_pred=frames[1])


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(dict(zip("abc", np.array(TABLE).T, strict=True))),
        pl.DataFrame(TABLE, schema=["a", "b", "c"], orient="row"),
        pd.DataFrame(TABLE, columns=list("abc")).astype("Int64"),
        pd.DataFrame(TABLE, columns=list("abc")).astype("boolean"),
        pd.DataFrame(TABLE, columns=list("abc")).astype({"a": bool}),
    ],
    ids=["pyarrow", "polars", "nullable numbers", "nullable booleans", "of two types"],
)
def test_tables_of_any_library_and_type_are_read(frame: Any) -> None:
    sets = encode_sets(y_true=frame, y_pred=np.array(TABLE))

    assert sets.labels.names == ("a", "b", "c")
    assert sets.actual.tolist() == np.array(TABLE, bool).tolist()


def test_one_hot_rows_in_both_arguments_are_refused_with_both_ways_out() -> None:
    one_hot = np.eye(3, dtype=int)[[0, 1, 2]]

    with pytest.raises(InvalidInput, match=r"labels=\[...\]. Where each .* as with .argmax"):
        infer_set_labels(y_true=one_hot, y_pred=one_hot)


def test_a_table_beside_sets_needs_declared_labels() -> None:
    with pytest.raises(InvalidInput, match="the columns have no names"):
        encode_sets(y_true=np.array(TABLE), y_pred=SETS)

    sets = encode_sets(y_true=np.array(TABLE), y_pred=SETS, labels=["a", "b", "c"])
    assert sets.predicted.tolist() == sets.actual.tolist()


def test_lists_of_zeros_and_ones_are_a_table_only_when_both_arguments_are() -> None:
    as_table = encode_sets(y_true=[[0, 1], [1, 1]], y_pred=[[1, 0], [0, 1]])
    as_sets = encode_sets(y_true=[[0, 1], [1, 0]], y_pred=[[1], [0, 1]])

    assert as_table.actual.tolist() == [[False, True], [True, True]]
    assert as_sets.actual.tolist() == [[True, True], [True, True]]
    assert as_sets.predicted.tolist() == [[False, True], [True, True]]


def test_sets_are_never_read_as_a_table() -> None:
    sets = encode_sets(y_true=[{0, 1}, {1, 0}], y_pred=[{0, 1}, {0, 1}])

    assert sets.actual.all()


def test_lists_shorter_than_the_declared_labels_are_sets() -> None:
    sets = encode_sets(y_true=[[1], [0]], y_pred=[[0], [1]], labels=[0, 1])

    assert sets.actual.tolist() == [[False, True], [True, False]]


def test_a_label_that_stands_twice_in_a_set_is_refused() -> None:
    with pytest.raises(InvalidInput, match="index 1 names 'a' twice") as caught:
        encode_sets(y_true=[["a"], ["a", "b", "a"]], y_pred=[["a"], ["b"]])

    assert caught.value.field == "y_true"


def test_seven_and_the_text_seven_are_one_label_named_twice() -> None:
    with pytest.raises(InvalidInput, match="names '7' twice"):
        encode_sets(y_true=[{7, "7"}], y_pred=[{7}])


def test_an_undeclared_label_is_named_with_its_place() -> None:
    with pytest.raises(InvalidInput, match="'z' in the set at index 1") as caught:
        encode_sets(y_true=[{"a"}, {"a"}], y_pred=[{"a"}, {"z"}], labels=["a", "b"])

    assert caught.value.field == "y_pred"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["ab", "c"], "'ab' at index 0 is not a set"),
        ([{"a"}, None], "None at index 1 is not a set"),
        ([{"a": 1}], "is not a set"),
        ("abc", "str holds no sets"),
        (7, "int holds no sets"),
        (
            np.zeros((2, 2, 2)),
            r"shape \(2, 2, 2\) holds no sets.* pixels or tokens as array.ravel",
        ),
        ([{1.5}], "of type float is not a label"),
    ],
)
def test_what_is_no_set_of_labels_is_refused(given: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        encode_sets(y_true=given, y_pred=given)


def test_other_numbers_than_zero_and_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\[0\]\[1\], 0.5 is neither 0 nor 1"):
        encode_sets(y_true=np.array([[1, 0.5]]), y_pred=np.array([[1, 0]]))


def test_a_table_needs_a_column_for_each_label() -> None:
    with pytest.raises(InvalidInput, match="2 columns for 3 labels"):
        encode_sets(y_true=np.eye(2), y_pred=np.eye(2), labels=["a", "b", "c"])


def test_both_arguments_need_the_same_number_of_cases() -> None:
    with pytest.raises(InvalidInput, match="y_true has 3 values, y_pred has 2"):
        encode_sets(y_true=SETS, y_pred=SETS[:2])


@pytest.mark.parametrize("given", [[], np.zeros((0, 3))])
def test_no_cases_are_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match="no values"):
        encode_sets(y_true=given, y_pred=given)


def test_sets_that_are_all_empty_name_no_labels() -> None:
    with pytest.raises(InvalidInput, match="no label can be inferred"):
        encode_sets(y_true=[set()], y_pred=[set()])

    sets = encode_sets(y_true=[set()], y_pred=[set()], labels=["a"])
    assert sets.actual.tolist() == [[False]]


LABELS = LabelSet.declared(["a", "b"])


@pytest.mark.parametrize(
    "values",
    [
        [{"a"}, set()],
        [["a"], []],
        [(), ("a",)],
        np.zeros((2, 2)),
        pd.DataFrame({"a": [0, 1], "b": [1, 1]}),
        pl.DataFrame({"a": [0, 1], "b": [1, 1]}),
        pl.Series([["a"], []]),
        pd.Series([["a"], []]),
        sparse.csr_array(np.zeros((2, 2))),
        pa.array([["a"], []]),
        pa.chunked_array([[["a"]], [[]]]),
        [None, {"a"}],
    ],
)
def test_a_table_or_a_collection_for_each_case_holds_sets(values: object) -> None:
    assert hold_sets(values)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        [1, 0],
        np.array(["a", "b"]),
        np.array([1, 0]),
        pd.Series(["a", "b"]),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        pa.array(["a"]).dictionary_encode(),
        iter(["a", "b"]),
        [],
        "ab",
        None,
        3,
    ],
)
def test_single_labels_are_no_sets(values: object) -> None:
    assert not hold_sets(values)


def test_a_column_of_arrow_lists_is_packed() -> None:
    assert pack_column(pa.array([["b"], []]), LABELS, field="y_pred").tolist() == [[2], [0]]


@pytest.mark.parametrize(
    "missing",
    [
        None,
        float("nan"),
        np.float32("nan"),
        np.datetime64("NaT", "s"),
        pd.NaT,
        pd.NA,
        Decimal("nan"),
    ],
)
def test_a_missing_set_is_unknown(missing: object) -> None:
    bits = pack_partial_column([["a"], missing, []], LABELS, field="labels").astype(np.uint8)

    assert is_known(bits, 2).tolist() == [True, False, True]
    assert unpack_sets(bits, 2).tolist() == [[True, False], [False, False], [False, False]]


@pytest.mark.parametrize("library", [pl, pd])
def test_a_set_in_a_column_of_a_frame_is_not_missing(library: Any) -> None:
    bits = pack_partial_column([library.Series(["b"]), None], LABELS, field="labels")

    assert is_known(bits.astype(np.uint8), 2).tolist() == [True, False]


def test_texts_of_files_are_read_as_sets() -> None:
    assert sets_of_texts(["sea|sky", " sea | sky ", "", None]) == [
        ["sea", "sky"],
        ["sea", "sky"],
        [],
        None,
    ]


@pytest.mark.parametrize("text", ["sea|", "|sea", "sea||sky", "|", "sea| |sky"])
def test_a_bar_without_a_label_beside_it_names_no_label(text: str) -> None:
    with pytest.raises(InvalidInput, match="at index 1 has a label without a name"):
        sets_of_texts(["sea", text])


@pytest.mark.parametrize("text", ["['sea', 'sky']", '["sea"]', "[]", " {'sea'}", "{sea,sky}"])
def test_a_list_written_as_text_is_no_label(text: str) -> None:
    with pytest.raises(InvalidInput, match="at index 1 is a list written as text"):
        sets_of_texts(["[UNK]|sky", text])


def test_a_set_is_written_in_label_order() -> None:
    assert set_text(LABELS, np.array([True, True])) == "{a, b}"
    assert set_text(LABELS, np.array([False, False])) == "{}"


def test_a_table_may_stand_beside_an_iterator_of_sets() -> None:
    sets = ({"sea"}, {"sea", "sky"})

    found = encode_sets(
        y_true=np.array([[1, 0], [1, 1]]), y_pred=iter(sets), labels=["sea", "sky"]
    )

    assert found.predicted.tolist() == found.actual.tolist()


def test_structs_are_refused_because_numpy_forgets_the_names_of_their_fields() -> None:
    given = pl.Series([{"sea": 1, "sky": 0}, {"sea": 0, "sky": 1}])
    moved = pl.Series([{"sky": 0, "sea": 1}, {"sky": 1, "sea": 0}])

    with pytest.raises(InvalidInput, match=r"structs cannot be read.*struct\.unnest\(\)"):
        encode_sets(y_true=given, y_pred=moved)
