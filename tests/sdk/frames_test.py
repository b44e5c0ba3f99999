"""A frame of any library becomes the run that its columns would become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import offdiag
from offdiag.sdk.frames.rows import BATCH_ROWS
from support.frames import FRAMES, LAZY, Columns

TRUTH = ["df", "mel", "nv", "nv", "mel", "nv", "df"]
FOUND = ["df", "nv", "nv", "mel", "mel", "nv", "nv"]
COUNTRY = ["DE", "DE", "FR", "FR", "DE", "FR", "DE"]
CASES: Columns = {"y": TRUTH, "yhat": FOUND, "country": COUNTRY, "other": list(range(7))}


def log(frame: Any, url: str, dataset: str, **given: Any) -> offdiag.Run:
    return offdiag.log_frame(frame, dataset=dataset, url=url, **{"name": "run"} | given)


@pytest.mark.parametrize("library", FRAMES)
def test_labels_slices_scores_and_identifiers_come_from_the_named_columns(
    url: str, dataset: str, library: str
) -> None:
    columns = CASES | {
        "df": [0.8, 0.1, 0.2, 0.1, 0.2, 0.1, 0.3],
        "mel": [0.1, 0.4, 0.2, 0.5, 0.6, 0.1, 0.3],
        "nv": [0.1, 0.5, 0.6, 0.4, 0.2, 0.8, 0.4],
        "image": [f"image {number}" for number in range(7)],
    }

    run = log(
        FRAMES[library](columns),
        url,
        dataset,
        score={label: label for label in ("nv", "mel", "df")},
        labels=["df", "mel", "nv"],
        sample_id="image",
        slices=["country"],
    )

    of_labels = offdiag.evaluate_labels(y_true=TRUTH, y_pred=FOUND, labels=["df", "mel", "nv"])
    assert run.evaluation().matrix.digest == of_labels.matrix.digest
    examples = run.examples(actual="nv", predicted="mel")
    assert examples["sample"].tolist() == ["image 3"]
    assert examples["confidence"].tolist() == [0.5]
    # The outer ones tell columns in reverse apart, which the middle one does not.
    assert run.examples(actual="df", predicted="df")["confidence"].tolist() == [np.float32(0.8)]
    assert run.examples(actual="df", predicted="nv")["confidence"].tolist() == [np.float32(0.4)]
    assert examples["country"].tolist() == ["FR"]
    assert run.evaluation(slice="country=FR").matrix.total == 3


def test_one_column_of_scores_belongs_to_the_positive_class(url: str, dataset: str) -> None:
    frame = pl.LazyFrame({"y": [1, 0, 1], "yhat": [1, 0, 0], "p": [0.9, 0.2, 0.4]})

    run = log(frame, url, dataset, score="p", positive_label=1)

    assert run.evaluation().aggregate["roc_auc"].value == 1.0


@pytest.mark.parametrize("library", LAZY)
def test_rows_of_a_lazy_frame_are_stored_in_their_order(
    url: str, dataset: str, library: str
) -> None:
    n = BATCH_ROWS + 5_000
    rng = np.random.default_rng(3)
    truth, found = rng.integers(0, 4, n), rng.integers(0, 4, n)
    frame = LAZY[library]({"y": truth.tolist(), "yhat": found.tolist()})
    arrays = offdiag.log_run(y_true=truth, y_pred=found, name="arrays", dataset=dataset, url=url)

    run = offdiag.log_frame(frame, name="frame", dataset=dataset, url=url)

    paired = offdiag.compare([arrays.id, run.id], url=url)
    assert paired.counts is not None
    assert paired.counts["only_a"] == paired.counts["only_b"] == 0
    assert paired.counts["both_right"] == int((truth == found).sum())


@pytest.mark.parametrize("keep_predictions", [True, False])
@pytest.mark.parametrize("labels", [{"df", "mel", "nv"}, {"df": 0, "mel": 1, "nv": 2}])
def test_labels_without_an_order_are_refused(
    url: str, dataset: str, labels: Any, *, keep_predictions: bool
) -> None:
    with pytest.raises(offdiag.InvalidInput, match="is not a list of labels in their order"):
        log(pl.DataFrame(CASES), url, dataset, labels=labels, keep_predictions=keep_predictions)


def test_truth_may_stay_with_the_dataset(url: str, dataset: str) -> None:
    offdiag.log_run(y_true=TRUTH, y_pred=TRUTH, name="truth", dataset=dataset, url=url)

    run = log(pl.LazyFrame({"yhat": FOUND}), url, dataset, actual=None)

    expected = offdiag.evaluate_labels(y_true=TRUTH, y_pred=FOUND).matrix
    assert run.evaluation().matrix.digest == expected.digest


def test_the_same_call_with_a_key_goes_on_with_the_run(url: str, dataset: str) -> None:
    first, again = (log(pl.LazyFrame(CASES), url, dataset, client_key="skin") for _ in range(2))

    assert first.id == again.id


@pytest.mark.parametrize("library", FRAMES)
def test_errors_of_every_library_name_the_column_and_the_row(
    url: str, dataset: str, library: str
) -> None:
    columns: Columns = {"y": ["a", "b", "b"], "yhat": ["a", "b", None]}

    with pytest.raises(
        offdiag.InvalidInput, match="predicted='yhat': the value in row 2 is missing"
    ):
        offdiag.log_frame(FRAMES[library](columns), name="run", dataset=dataset, url=url)


@pytest.mark.parametrize("library", ["pandas", "polars lazy"])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"y": ["a", None, "b"]}, r"actual='y': the value in row 1 is missing"),
        ({"p": [0.1, float("inf"), 0.3]}, r"score='p': the score in row 1 is inf"),
        ({"country": ["DE", None, "FR"]}, r"slices\['country'\]: the value in row 1 is missing"),
        ({"y": [0.5, 1.5, 0.5]}, r"actual='y': 2 distinct numbers, such as \d\.5"),
        ({"p": ["high", "low", "low"]}, r"score='p': values of type \w+ are not scores"),
    ],
)
def test_errors_name_the_column_and_the_row(
    url: str, dataset: str, library: str, broken: Columns, message: str
) -> None:
    columns: Columns = {
        "y": ["a", "b", "b"],
        "yhat": ["a", "a", "b"],
        "p": [0.9, 0.4, 0.1],
        "country": ["DE", "FR", "FR"],
    }
    frame = FRAMES[library](columns | broken)

    with pytest.raises(offdiag.InvalidInput, match=message):
        log(frame, url, dataset, score="p", positive_label="a", slices=["country"])


@pytest.mark.parametrize("library", ["pandas", "polars lazy", "duckdb"])
def test_a_label_that_nobody_declared_is_named_with_its_row(
    url: str, dataset: str, library: str
) -> None:
    n = BATCH_ROWS + 10
    columns: Columns = {"y": ["a"] * n, "yhat": ["b"] * (n - 1) + ["c"]}

    with pytest.raises(
        offdiag.InvalidInput, match=rf"predicted='yhat': the value 'c' in row {n - 1} is not one"
    ):
        log(FRAMES[library](columns), url, dataset, labels=["a", "b"])


def test_a_column_of_several_kinds_is_named_with_the_first_row_that_differs(
    url: str, dataset: str
) -> None:
    frame = pd.DataFrame({"y": ["a", "b", 3, "a"], "yhat": ["a", "b", "b", "a"]})

    with pytest.raises(offdiag.InvalidInput, match=r"row 2 of column 'y' holds int"):
        offdiag.log_frame(frame, name="run", dataset=dataset, url=url)


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_of_no_kind(url: str, dataset: str, gap: object) -> None:
    column = pd.Series(["a", gap, 3, "a"], dtype=object)
    frame = pd.DataFrame({"y": column, "yhat": ["a", "b", "b", "a"]})

    with pytest.raises(offdiag.InvalidInput, match=r"row 2 of column 'y' holds int"):
        offdiag.log_frame(frame, name="run", dataset=dataset, url=url)


@pytest.mark.parametrize("library", ["pandas", "polars lazy"])
def test_a_column_that_is_not_there_is_named_with_a_near_one(
    url: str, dataset: str, library: str
) -> None:
    with pytest.raises(
        offdiag.InvalidInput, match=r"slices: the frame has no column 'county'.*'country'"
    ):
        log(FRAMES[library](CASES), url, dataset, slices=["county"])


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"actual": 0, "predicted": "1"}, "actual"),
        ({"actual": "0", "predicted": "1"}, "actual"),
        ({"predicted": None, "score": 2, "positive_label": "a"}, "score"),
        ({"actual": ("y", 1), "predicted": "y"}, "actual"),
    ],
)
def test_a_column_whose_name_is_not_text_is_refused_with_the_way_out(
    url: str, dataset: str, named: dict[str, Any], field: str
) -> None:
    frame = pd.DataFrame([["a", "a", 0.9, "a", "b"]], columns=[0, 1, 2, "y", ("y", 1)])

    with pytest.raises(offdiag.InvalidInput, match=r"is not text.*columns\.map") as caught:
        offdiag.log_frame(frame, name="run", dataset=dataset, url=url, **named)

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frame": [1, 2]}, "list is not a frame"),
        (
            {"frame": pd.DataFrame([["df", "df", "df"]], columns=["y", "yhat", "y"])},
            "several columns have one name: 'y' 2 times",
        ),
        ({"predicted": "y"}, "column 'y' is named as actual and as predicted"),
        ({"slices": "country"}, r"Give a list: \['country'\]"),
        ({"dataset": None}, "dataset: a lazy frame is stored batch by batch"),
        ({"score": {"df": "other"}, "labels": ["df", "nv"]}, "'nv' is in only one of"),
        ({"labels": None, "ordinal": True}, "does not exist yet"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(
    url: str, dataset: str, given: dict[str, Any], message: str
) -> None:
    usual: dict[str, Any] = {
        "frame": pl.LazyFrame(CASES),
        "name": "run",
        "dataset": dataset,
        "url": url,
    }

    with pytest.raises(offdiag.InvalidInput, match=message):
        offdiag.log_frame(**(usual | given))
