"""Arrays of libraries that are not installed with offdiag, as these libraries give them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag.errors import InvalidInput

TRUTH = ["ill", "well", "ill", "well", "well"]
FOUND = ["ill", "well", "well", "well", "well"]
OF_ILL = np.array([0.9, 0.2, 0.4, 0.1, 0.45])


class DataArray:
    """As xarray has one: its stream for Arrow holds records of coordinates and values."""

    dims = ("row", "class")

    def __init__(self, values: Any, **coords: Any) -> None:
        self._values = np.asarray(values)
        self.coords = coords
        self.ndim = self._values.ndim
        self.shape = self._values.shape
        self.dtype = self._values.dtype

    def to_pandas(self) -> Any:
        rows = pd.Index(self.coords.get("row", range(len(self._values))), name="row")
        if self.ndim == 1:
            return pd.Series(self._values, rows)
        return pd.DataFrame(self._values, rows, self.coords.get("class"))

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._values

    def __arrow_c_stream__(self, _: object = None) -> object:
        return pd.DataFrame({"row": 0, "values": self._values}).__arrow_c_stream__()


def accuracy(*, y_true: object, y_pred: object) -> float | None:
    found = offdiag.evaluate_labels(y_true=y_true, y_pred=y_pred)
    return found.aggregate["overall_accuracy"].value


def test_rows_of_xarray_are_paired_by_their_coordinates() -> None:
    rows = np.arange(5) * 10
    turned = DataArray(FOUND[::-1], row=rows[::-1])

    assert accuracy(y_true=DataArray(TRUTH), y_pred=DataArray(FOUND)) == 0.8
    assert accuracy(y_true=DataArray(TRUTH, row=rows), y_pred=turned) == 0.8
    assert accuracy(y_true=TRUTH, y_pred=turned) == 0.4
    with pytest.raises(InvalidInput, match="y_pred: its index differs from that of y_true"):
        accuracy(y_true=DataArray(TRUTH, row=rows + 1), y_pred=turned)


def test_rows_of_xarray_without_coordinates_are_not_taken_for_named_ones() -> None:
    with pytest.raises(InvalidInput, match="y_pred: its index is a new one of 0 to 4"):
        accuracy(y_true=DataArray(TRUTH, row=[4, 3, 2, 1, 0]), y_pred=DataArray(FOUND))


def test_scores_of_xarray_are_those_of_the_classes_in_its_coordinates(tmp_path: Path) -> None:
    columns = np.c_[1 - OF_ILL, OF_ILL]
    given: dict[str, Any] = {"y_true": DataArray(TRUTH), "labels": ["ill", "well"]}
    kept = offdiag.log_run(
        **given,
        y_score=DataArray(columns, **{"class": ["well", "ill"]}),
        slices={"site": DataArray(list("aabbb"))},
        name="xarray",
        dataset="xarray",
        url=f"sqlite:///{tmp_path / 'registry.db'}",
    )

    assert kept.evaluation().matrix.counts.tolist() == [[1, 1], [0, 3]]
    assert kept.evaluation(slice="site=b").aggregate["n"].value == 3
    for scores in (DataArray(columns, **{"class": ["well", "ill"]}), DataArray(columns[:, ::-1])):
        found = offdiag.evaluate_scores(**given, y_score=scores, positive_label="ill")
        assert found.aggregate["roc_auc"].value == pytest.approx(5 / 6)


class OfJax:
    """As JAX has one in 16 bits: numpy reads it as records of two bytes."""

    dtype = "bfloat16"
    shape = (5,)
    ndim = 1

    def astype(self, dtype: Any) -> np.ndarray[Any, Any]:
        return OF_ILL.astype(dtype)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.zeros(5, "V2")


class ScalarOfJax:
    """One label as JAX gives it: an array without axes, which refuses `flat`."""

    shape = ()
    ndim = 0
    dtype = np.dtype(np.int32)

    def __init__(self, value: int) -> None:
        self._value = value

    def item(self) -> int:
        return self._value

    @property
    def flat(self) -> None:
        raise NotImplementedError("JAX Arrays do not implement the arr.flat property")


def test_arrays_of_jax_are_read() -> None:
    codes = [0, 1, 0, 1, 1]

    found = offdiag.evaluate_scores(y_true=TRUTH, y_score=OfJax(), positive_label="ill")

    assert found.aggregate["roc_auc"].value == pytest.approx(5 / 6)
    assert accuracy(y_true=[ScalarOfJax(code) for code in codes], y_pred=codes) == 1.0


class Sparse:
    """As PyTorch has one: it holds no dense array, and says so."""

    ndim = 1
    shape = (5,)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
        )


class Meta(Sparse):
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")


@pytest.mark.parametrize("kind", [Sparse, Meta])
def test_tensors_without_a_dense_array_are_refused_with_the_argument(kind: type[Sparse]) -> None:
    for given in ({"y_true": kind(), "y_pred": FOUND}, {"y_true": TRUTH, "y_pred": kind()}):
        with pytest.raises(InvalidInput, match="cannot be read as an array"):
            accuracy(**given)
    with pytest.raises(InvalidInput, match="y_score: the scores cannot be read as numbers"):
        offdiag.evaluate_scores(y_true=TRUTH, y_score=kind(), positive_label="ill")


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        ({"y_pred": [{"label": name, "score": 0.5} for name in FOUND]}, r"row\['label'\]"),
        ({"y_pred": [name.encode() for name in FOUND]}, r"value\.decode\(\)"),
        ({"y_pred": np.array(FOUND, "S4")}, r"value\.decode\(\)"),
        ({"y_score": [{"ill": 0.5, "well": 0.5}] * 5}, "{class: scores}"),
        ({"y_score": np.full((1, 5, 2), 0.5)}, r"join batches, as numpy\.concatenate"),
        ({"y_pred": FOUND, "params": Namespace(lr=0.1)}, r"vars\(\) makes one"),
        ({"y_score": OF_ILL}, r"--positive"),
    ],
)
def test_what_other_libraries_give_is_refused_with_the_way_out(
    tmp_path: Path, given: dict[str, Any], way_out: str
) -> None:
    with pytest.raises(InvalidInput, match=way_out):
        offdiag.log_run(
            y_true=TRUTH,
            **given,
            name="other",
            dataset="others",
            url=f"sqlite:///{tmp_path / 'registry.db'}",
        )


def test_a_list_of_batches_is_told_from_sets_of_labels() -> None:
    batches = [np.array([0, 2, 2]), np.array([1, 0, 1])]

    with pytest.raises(InvalidInput, match=r"join them, as numpy\.concatenate does"):
        offdiag.evaluate_multilabel(y_true=batches, y_pred=batches)
