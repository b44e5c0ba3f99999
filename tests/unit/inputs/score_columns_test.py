"""Named columns of scores are those of the classes, in any order, or they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.score_columns import PickedColumns, in_label_order, require_column_of

TWO = LabelSet.declared(["no", "yes"])
DIGITS = LabelSet.declared([0, 1, 2])
TURNED = LabelSet.declared([1, 0])
ROW = np.array([[0.1, 0.9]])
THREE = np.array([[0.1, 0.2, 0.7]])


@pytest.mark.parametrize(
    ("y_score", "labels", "expected"),
    [
        (pd.DataFrame(ROW, columns=["yes", "no"]), TWO, [0.9, 0.1]),
        (pd.DataFrame(THREE, columns=[2, 0, 1]), DIGITS, [0.2, 0.7, 0.1]),
        (pd.DataFrame(ROW, columns=[False, True]), LabelSet.declared([True, False]), [0.9, 0.1]),
        (pd.DataFrame(ROW, columns=np.array([0, 1])), TURNED, [0.9, 0.1]),
        (pd.DataFrame({0: [0.1], 1: [0.9]}), TURNED, [0.9, 0.1]),
        (
            pd.DataFrame(ROW, columns=["_mask", "no"]),
            LabelSet.declared(["no", "_mask"]),
            [0.9, 0.1],
        ),
        (pd.DataFrame(ROW), TWO, [0.1, 0.9]),
        (pd.DataFrame(THREE)[[0, 1]], TWO, [0.1, 0.2]),
        (pl.DataFrame(ROW), TWO, [0.1, 0.9]),
        ({"yes": [0.9], "no": [0.1]}, TWO, [0.1, 0.9]),
        (PickedColumns(ROW, ("p_yes", "p_no")), TWO, [0.9, 0.1]),
        (PickedColumns(ROW, ("yes score", "no score")), TWO, [0.9, 0.1]),
        (PickedColumns(THREE, ("p1", "p2", "p0")), DIGITS, [0.7, 0.1, 0.2]),
        (ROW, TWO, [0.1, 0.9]),
    ],
)
def test_the_name_of_a_column_decides_which_class_it_is_for(
    y_score: object, labels: LabelSet, expected: list[float]
) -> None:
    assert np.asarray(in_label_order(y_score, labels)).tolist() == [expected]


@pytest.mark.parametrize(
    ("y_score", "labels", "sentence"),
    [
        (
            pd.DataFrame(ROW, columns=["no", "maybe"]),
            TWO,
            r"\('no', 'maybe'\).*'maybe' is not a class",
        ),
        (pd.DataFrame(THREE, columns=["no", "yes", "?"]), TWO, "'\\?' is not a class"),
        (pd.DataFrame(ROW, columns=["no", "no"]), TWO, "'no' occurs more than once"),
        (pd.DataFrame(ROW, columns=[1, 0]), TWO, "'1' is not a class"),
        (pd.DataFrame(ROW, columns=[0.5, 1.5]), TWO, "'0.5' is not a class"),
        (pd.DataFrame(ROW, columns=[1, 0]), DIGITS, "'2' has no column"),
        (pd.DataFrame(ROW, columns=["p_yes", "p_no"]), TWO, "'p_yes' is not a class"),
        (PickedColumns(ROW, ("p_yes", "q_no")), TWO, "'p_yes' is not a class"),
        ({"no": [0.1], "yes": [0.9, 0.8]}, TWO, "differ in length"),
    ],
)
def test_columns_of_other_classes_are_refused(
    y_score: object, labels: LabelSet, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as caught:
        in_label_order(y_score, labels)

    assert caught.value.field == "y_score"
    assert caught.value.hint


@pytest.mark.parametrize(
    "y_score",
    [
        pd.Series([0.1], name="no"),
        pl.Series("no", [0.1]),
        pd.DataFrame({"no": [0.1]}),
        {"no": [0.1]},
        PickedColumns(np.array([0.1]), ("no",)),
    ],
)
def test_one_column_is_not_called_after_the_other_class(y_score: Any) -> None:
    require_column_of(y_score, TWO, "no")
    require_column_of(y_score, TWO, None)
    with pytest.raises(InvalidInput, match="is called 'no', but the positive class is 'yes'"):
        require_column_of(y_score, TWO, "yes")


@pytest.mark.parametrize("key", [0, np.int64(0), "0"])
def test_a_mapping_names_the_class_also_with_a_number(key: Any) -> None:
    digits = LabelSet.declared([0, 1])

    require_column_of({key: [0.1]}, digits, "0")
    with pytest.raises(InvalidInput, match="is called '0', but the positive class is '1'"):
        require_column_of({key: [0.1]}, digits, "1")
    # The one column of a frame may only be numbered.
    require_column_of(pd.DataFrame({0: [0.1]}), digits, "1")


@pytest.mark.parametrize("y_score", [[0.1], np.array([0.1]), pd.Series([0.1], name="score")])
def test_a_column_called_otherwise_is_that_of_the_positive_class(y_score: object) -> None:
    require_column_of(y_score, TWO, "yes")
