"""Sets of labels are recognised by their form, and single labels are not taken for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from offdiag.arrays.set_columns import hold_sets, pack_column, pack_partial_column
from offdiag.arrays.set_texts import set_text, sets_of_texts
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.multilabel.sets import is_known, unpack_sets

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


def test_errors_name_the_argument() -> None:
    with pytest.raises(InvalidInput, match="names 'a' twice") as raised:
        pack_column([["a", "a"]], LABELS, field="y_pred")
    assert raised.value.field == "y_pred"


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_set_is_unknown(missing: object) -> None:
    bits = pack_partial_column([["a"], missing, []], LABELS, field="labels").astype(np.uint8)

    assert is_known(bits, 2).tolist() == [True, False, True]
    assert unpack_sets(bits, 2).tolist() == [[True, False], [False, False], [False, False]]


def test_texts_of_files_are_read_as_sets() -> None:
    assert sets_of_texts(["sea|sky", " sea | sky ", "", None]) == [
        ["sea", "sky"],
        ["sea", "sky"],
        [],
        None,
    ]


def test_a_set_is_written_in_label_order() -> None:
    assert set_text(LABELS, np.array([True, True])) == "{a, b}"
    assert set_text(LABELS, np.array([False, False])) == "{}"
