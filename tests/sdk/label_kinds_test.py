"""Labels of another kind, or written otherwise, are one class or refused, on every way in."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import offdiag
from offdiag.errors import InvalidInput, LabelNote
from offdiag.sdk.run import Run
from support.kinds import Files
from support.servers import serving

Labels = list[Any]
Way = Callable[..., Run]


_numbers = itertools.count()


def new_dataset() -> str:
    return f"d{next(_numbers)}"


def log_arrays(url: str, y_true: Any, y_pred: Any, dataset: str, **given: Any) -> Run:
    facts: dict[str, Any] = {"name": "n", "dataset": dataset, "url": url}
    return offdiag.log_run(y_true=y_true, y_pred=y_pred, **facts, **given)


def log_lazy_frame(url: str, y_true: Labels, y_pred: Labels, dataset: str) -> Run:
    frame = pl.LazyFrame({"y": y_true, "yhat": y_pred})
    return offdiag.log_frame(frame, name="n", dataset=dataset, url=url)


def log_counted_frame(url: str, y_true: Labels, y_pred: Labels, dataset: str) -> Run:
    frame = pd.DataFrame({"y": y_true, "yhat": y_pred})
    return offdiag.log_frame(frame, name="n", dataset=dataset, keep_predictions=False, url=url)


WAYS: list[tuple[str, Way]] = [
    ("embedded", log_arrays),
    ("embedded", log_lazy_frame),
    ("embedded", log_counted_frame),
    ("remote", log_lazy_frame),
]
"""An eager frame is arrays, and arrays and counts are read before anything is sent."""

ON_EVERY_WAY = pytest.mark.parametrize(("url", "way"), WAYS, indirect=["url"])


@pytest.fixture(scope="module")
def addresses(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One registry for all tests here: each has datasets of its own."""
    with (
        files.new(tmp_path_factory.mktemp("kinds")) as database,
        serving(database) as address,
    ):
        yield {"embedded": database.url, "remote": address}


@pytest.fixture
def url(request: pytest.FixtureRequest, addresses: dict[str, str]) -> str:
    return addresses[getattr(request, "param", "embedded")]


@ON_EVERY_WAY
def test_booleans_beside_0_and_1_are_one_kind(url: str, way: Way) -> None:
    kinds: list[tuple[Labels, Labels, tuple[str, str]]] = [
        ([True, False, True], [1, 0, 0], ("False", "True")),
        ([1, 0, 1], [True, False, False], ("0", "1")),
        (["True", "False", "True"], [1, 0, 0], ("False", "True")),
    ]
    for y_true, y_pred, names in kinds:
        evaluation = way(url, y_true, y_pred, new_dataset()).evaluation()

        assert evaluation.labels == names
        assert evaluation.aggregate["overall_accuracy"].value == pytest.approx(2 / 3)


NOTHING_SHARED: list[tuple[Labels, Labels, str]] = [
    (["cat", "dog"], ["Cat", "Dog"], r"Near misses: 'cat' and 'Cat' \(case\)"),
    (["cat", "dog"], ["cat ", "dog "], r"'cat' and 'cat ' \(white space\)"),
    ([1, 2], ["one", "two"], "no label of"),
    ([0, 1], [0.25, 0.75], r"2 distinct numbers, such as 0\.[27]5: .*regression or scores"),
    (["0", "1"], ["0.25", "0.75"], r"such as 0\.[27]5: .*regression or scores"),
]


@ON_EVERY_WAY
def test_what_shares_no_label_with_the_truth_is_refused(url: str, way: Way) -> None:
    dataset = new_dataset()

    for y_true, y_pred, sentence in NOTHING_SHARED:
        with pytest.raises(InvalidInput, match=sentence):
            way(url, y_true, y_pred, dataset)

    assert dataset not in set(offdiag.search_runs(url=url)["dataset"])


@ON_EVERY_WAY
def test_whole_decimals_are_whole_numbers(url: str, way: Way) -> None:
    y_true, y_pred = [[Decimal(each) for each in given] for given in ("101", "100")]

    evaluation = way(url, y_true, y_pred, new_dataset()).evaluation()

    assert evaluation.labels == ("0", "1")
    assert evaluation.aggregate["overall_accuracy"].value == pytest.approx(2 / 3)
    halves = [Decimal("0.5"), Decimal(1), Decimal(2)]
    with pytest.raises(InvalidInput, match=r"0\.5"):
        way(url, y_true, halves, new_dataset())


def test_numbers_of_any_size_of_a_database_are_labels_ids_scores_and_weights(
    registry_url: str,
) -> None:
    numbers = "(i % 2)::HUGEINT AS y, i::HUGEINT AS id, (i % 7 / 10)::DECIMAL(5, 3) AS p"
    rows = duckdb.sql(f"SELECT {numbers}, (1 + i % 2)::DECIMAL(4, 2) AS w FROM range(30) t(i)")
    for name, weight in (("examples", None), ("weighted", "w")):
        offdiag.log_frame(
            rows,
            name=name,
            predicted=None,
            score="p",
            positive_label=1,
            sample_id="id",
            sample_weight=weight,
            dataset="huge",
            url=registry_url,
        )

    found = offdiag.search_runs(url=registry_url).set_index("name")
    number = np.arange(30)
    right = (number % 7 / 10 >= 0.5) == (number % 2 == 1)
    assert found["metrics.overall_accuracy"].to_dict() == pytest.approx(
        {"examples": right.mean(), "weighted": np.average(right, weights=1 + number % 2)}
    )


@ON_EVERY_WAY
def test_whole_floats_are_labels_with_a_note(url: str, way: Way) -> None:
    with pytest.warns(LabelNote, match="floats that are whole numbers") as told:
        run = way(url, [1, 0, 1], [1.0, 0.0, 0.0], new_dataset())

    assert run.evaluation().labels == ("0", "1")
    assert {note.filename for note in told} == {__file__}


@ON_EVERY_WAY
def test_classes_that_look_alike_are_accepted_with_a_warning(url: str, way: Way) -> None:
    with pytest.warns(LabelNote, match=r"look alike: 'Cat' and 'cat' \(case\)"):
        run = way(url, ["cat", "Cat", "dog"], ["cat", "cat", "dog"], new_dataset())

    assert run.evaluation().labels == ("Cat", "cat", "dog")


@pytest.mark.filterwarnings("error::offdiag.errors.LabelNote")
def test_counted_numbers_and_their_texts_are_classes_without_a_warning(url: str) -> None:
    run = offdiag.log_frame(
        pd.DataFrame({"y": ["0", "1", "1"], "yhat": [0, 1, 0]}),
        keep_predictions=False,
        name="n",
        dataset=new_dataset(),
        url=url,
    )

    assert run.evaluation().labels == ("0", "1")


def test_a_matrix_whose_classes_look_alike_is_accepted_with_a_warning(url: str) -> None:
    with pytest.warns(LabelNote, match="look alike"):
        offdiag.log_matrix(
            [[1, 0], [0, 1]],
            labels=["a", "A"],
            orientation="actual_rows",
            name="n",
            dataset=new_dataset(),
            url=url,
        )


def test_a_batch_may_share_no_label_with_its_truth(url: str) -> None:
    with offdiag.start_run(name="n", dataset=new_dataset(), labels=["a", "b"], url=url) as run:
        run.log(y_true=["a"], y_pred=["b"])
        run.log(y_true=["b"], y_pred=["b"])

    assert run.evaluation().aggregate["overall_accuracy"].value == 0.5


@pytest.mark.parametrize("url", ["embedded", "remote"], indirect=True)
def test_batches_may_hold_whole_floats_and_no_scores(url: str) -> None:
    with offdiag.start_run(name="n", dataset=new_dataset(), labels=[0, 1], url=url) as run:
        with pytest.warns(LabelNote, match="y_pred holds floats"):
            run.log(y_true=[True, False], y_pred=[1.0, 0.0])
        with pytest.raises(InvalidInput, match="Did you mean y_score"):
            run.log(y_true=[1, 0], y_pred=[[0.1, 0.9], [0.2, 0.8]])

    assert run.evaluation().aggregate["overall_accuracy"].value == 1.0


def test_iterators_are_read_though_their_labels_are_looked_for_first(url: str) -> None:
    run = log_arrays(url, iter(["a", "b"]), map(str, ["a", "a"]), new_dataset())

    assert run.evaluation().aggregate["overall_accuracy"].value == 0.5


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_numbers_of_63_bits_and_more_are_classes(url: str, dtype: type[np.integer]) -> None:
    numbers = [2**60, 2**60 + 1, np.iinfo(dtype).max]

    run = log_arrays(url, np.array(numbers, dtype), np.array(numbers[::-1], dtype), new_dataset())

    found = run.evaluation()
    assert found.labels == tuple(map(str, map(int, numbers)))
    assert found.confusion_matrix.to_numpy().tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_scores_in_another_order_than_the_labels_are_noted(url: str) -> None:
    """scikit-learn sorts classes that are text as text."""
    actual = ["2", "10"] * 10
    y_score = np.tile([[0.1, 0.9], [0.8, 0.2]], (10, 1))  # "10", "2"
    said = r"another order than the labels \('2', '10'\): where {} is '2', the highest score"

    with pytest.warns(LabelNote, match=said.format("y_pred")):
        log_arrays(url, actual, actual, new_dataset(), y_score=y_score)
    with pytest.warns(LabelNote, match=said.format("y_true")):
        log_arrays(url, actual, None, new_dataset(), y_score=y_score)
    with pytest.warns(LabelNote, match=said.format("y_true")):
        offdiag.evaluate_scores(y_true=actual, y_score=y_score)


def test_probabilities_that_add_up_to_1_but_for_rounding_are_noted(url: str) -> None:
    """Metrics of probabilities would be undefined without a word, as for decision values."""
    actual = ["a", "b", "c"] * 10
    y_score = np.random.default_rng(1).dirichlet(np.ones(3), size=30).astype(np.float16)
    given: dict[str, Any] = {"labels": ["a", "b", "c"]}

    with pytest.warns(LabelNote, match="add up to 1 only nearly"):
        found = offdiag.evaluate_scores(y_true=actual, y_score=y_score, **given)
    assert found.aggregate["log_loss"].reason == "scores_not_probabilities"
    for predicted in (actual, None):
        with pytest.warns(LabelNote, match="add up to 1 only nearly"):
            log_arrays(url, actual, predicted, new_dataset(), y_score=y_score, **given)


ONE_HOT = np.eye(3, dtype=int)
OF_ONE_LABEL = r"exactly one label.*argmax\(axis=1\)"


@pytest.mark.parametrize("url", ["embedded", "remote"], indirect=True)
def test_one_hot_rows_with_labels_are_sets_with_a_note(url: str) -> None:
    about: dict[str, Any] = {"labels": ["a", "b", "c"], "name": "n", "dataset": new_dataset()}

    with pytest.warns(LabelNote, match=OF_ONE_LABEL):
        offdiag.log_run(y_true=ONE_HOT, y_pred=ONE_HOT[[0, 2, 2]], **about, url=url)

    again = offdiag.log_run(  # The dataset has sets by now, and they may have one label each.
        y_true=ONE_HOT, y_pred=ONE_HOT, **about, url=url
    )
    assert again.evaluation().aggregate["subset_accuracy"].value == 1.0


@pytest.mark.parametrize("url", ["embedded", "remote"], indirect=True)
def test_one_hot_rows_in_batches_are_noted_once_when_all_are_there(url: str) -> None:
    run = offdiag.start_run(labels=["a", "b", "c"], name="n", dataset=new_dataset(), url=url)
    run.log(y_true=ONE_HOT[:2], y_pred=ONE_HOT[:2])
    run.log(y_true=ONE_HOT[2:], y_pred=ONE_HOT[2:])

    with pytest.warns(LabelNote, match=OF_ONE_LABEL):
        run.finish()


@pytest.mark.parametrize("odd", [[0, 0, 0], [1, 1, 0]])
def test_sets_of_other_sizes_than_one_need_no_note(url: str, odd: list[int]) -> None:
    found = np.vstack([ONE_HOT[:2], odd])
    log_arrays(url, ONE_HOT, found, new_dataset(), labels=["a", "b", "c"])


def test_a_model_that_is_always_wrong_is_logged_with_declared_labels(url: str) -> None:
    run = log_arrays(url, ["a"], ["b"], new_dataset(), labels=["a", "b"])

    assert run.evaluation().aggregate["overall_accuracy"].value == 0.0
