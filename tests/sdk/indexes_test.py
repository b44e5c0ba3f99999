"""Every function that takes several arrays pairs Series of pandas by their index."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import offdiag
from offdiag.errors import InvalidInput

N = 40
RNG = np.random.default_rng(7)
INDEX = pd.Index(RNG.permutation(N) + 1_000)
TRUTH = pd.Series(RNG.choice(["ill", "well"], N), INDEX)
FOUND = TRUTH.where(RNG.random(N) < 0.9, "ill")
OTHERS = pd.Series(RNG.choice(["ill", "well"], N), INDEX)
SCORE = pd.Series(np.where(TRUTH == "ill", 0.7, 0.3) + RNG.normal(0, 0.2, N), INDEX)
IDS = pd.Series([f"patient {label}" for label in INDEX], INDEX)
SITE = pd.Series(RNG.choice(["a", "b"], N), INDEX)
WEIGHT = pd.Series(RNG.integers(1, 9, N), INDEX)
SETS = pd.DataFrame({"sky": TRUTH == "ill", "sea": SITE == "a"}).astype(int)

Arrays = dict[str, Any]
Entry = Callable[[str, str, Arrays], object]


def of_run(run: offdiag.Run) -> object:
    """Everything stored that the order of the rows must not change, slices among it."""
    return run.examples(kind="all").sort_values("sample").to_dict("list")


def values(found: Any) -> object:
    """Aggregates, to the digits that the order of a sum leaves alone."""
    numbers = {key: value.value for key, value in found.aggregate.items()}
    return {key: number and round(number, 12) for key, number in numbers.items()}


def in_one_call(url: str, dataset: str, given: Arrays) -> object:
    return of_run(
        offdiag.log_run(name="run", dataset=dataset, positive_label="ill", url=url, **given)
    )


def in_batches(url: str, dataset: str, given: Arrays) -> object:
    with offdiag.start_run(
        name="run", dataset=dataset, labels=["ill", "well"], positive_label="ill", url=url
    ) as run:
        run.log(**given)
    return of_run(run)


def of_estimator(url: str, dataset: str, given: Arrays) -> object:
    features = given["y_score"]
    if isinstance(features, pd.Series):
        features = features.to_frame("x")
        fitted = LogisticRegression().fit(SCORE.to_frame("x"), TRUTH.to_numpy())
    else:
        features = features[:, np.newaxis]
        fitted = LogisticRegression().fit(SCORE.to_numpy()[:, np.newaxis], TRUTH.to_numpy())
    run = offdiag.sklearn.log_estimator(
        fitted,
        features,
        given["y_true"],
        sample_ids=given["sample_ids"],
        slices=given["slices"],
        name="run",
        dataset=dataset,
        url=url,
    )
    return of_run(run)


def in_memory(evaluate: Callable[..., Any], **stated: Any) -> Entry:
    return lambda _url, _dataset, given: values(evaluate(**given, **stated))


RUN = {"y_true": TRUTH, "y_score": SCORE, "sample_ids": IDS, "slices": {"site": SITE}}
PAIR = {"y_true": TRUTH, "pred_a": FOUND, "pred_b": OTHERS}
ENTRIES: dict[str, tuple[Entry, Arrays]] = {
    "log_run": (in_one_call, {**RUN, "y_pred": FOUND}),
    "log_run, slices in a frame": (
        in_one_call,
        {"y_true": TRUTH, "y_pred": FOUND, "sample_ids": IDS, "slices": SITE.to_frame("site")},
    ),
    "run.log": (in_batches, {**RUN, "y_pred": FOUND}),
    "sklearn.log_estimator": (of_estimator, RUN),
    "evaluate_labels": (
        in_memory(offdiag.evaluate_labels),
        {"y_true": TRUTH, "y_pred": FOUND, "sample_weight": WEIGHT},
    ),
    "evaluate_scores": (
        in_memory(offdiag.evaluate_scores, positive_label="ill"),
        {"y_true": TRUTH, "y_score": SCORE},
    ),
    "evaluate_multilabel": (
        in_memory(offdiag.evaluate_multilabel),
        {"y_true": SETS, "y_pred": SETS.assign(sea=1), "y_score": SETS.mul(WEIGHT, axis="index")},
    ),
    "stats.paired_difference": (in_memory(offdiag.stats.paired_difference, replicates=9), PAIR),
    "stats.permutation_test": (
        lambda _url, _dataset, given: offdiag.stats.permutation_test(
            **given, metric="mcc", replicates=9
        ),
        PAIR,
    ),
    "stats.delong": (
        lambda _url, _dataset, given: offdiag.stats.delong(**given).difference,
        {"y_true": (TRUTH == "ill").astype(int), "score_a": SCORE, "score_b": WEIGHT},
    ),
}
CASES = [(name, moved) for name, (_, given) in ENTRIES.items() for moved in given]
_numbers = itertools.count()


@cache
def in_order(url: str, name: str) -> object:
    entry, given = ENTRIES[name]
    return entry(url, f"{name}, in order", given)


def with_changed(url: str, name: str, argument: str, change: Callable[[Any], Any]) -> object:
    """What comes of an entry where one of its arguments is changed."""
    entry, given = ENTRIES[name]
    value = given[argument]
    changed = (
        {key: change(each) for key, each in value.items()}
        if isinstance(value, dict)
        else change(value)
    )
    return entry(url, f"dataset {next(_numbers)}", {**given, argument: changed})


@pytest.mark.parametrize(("name", "moved"), CASES)
def test_rows_in_another_order_are_paired_by_the_index(url: str, name: str, moved: str) -> None:
    found = with_changed(url, name, moved, lambda array: array.sort_index())

    assert found == in_order(url, name)


@pytest.mark.parametrize(("name", "moved"), CASES)
def test_an_index_of_other_labels_is_refused(url: str, name: str, moved: str) -> None:
    with pytest.raises(InvalidInput, match="index differs from that of") as caught:
        with_changed(url, name, moved, lambda array: array.reset_index(drop=True))

    assert ".to_numpy()" in str(caught.value.hint)
    assert "sample_ids" in str(caught.value.hint)


@pytest.mark.parametrize("name", [name for name in ENTRIES if name != "evaluate_multilabel"])
def test_an_array_next_to_a_series_is_paired_by_position(url: str, name: str) -> None:
    found = with_changed(url, name, "y_true", lambda array: array.to_numpy())

    assert found == in_order(url, name)


def test_new_labels_belong_to_the_samples_that_their_index_names(url: str) -> None:
    offdiag.log_run(
        y_true=TRUTH, y_pred=FOUND, sample_ids=IDS, name="run", dataset="corrected", url=url
    )
    opposite = TRUTH.map({"ill": "well", "well": "ill"})

    made = offdiag.revise_truth(
        dataset="corrected", labels=(IDS.sort_index(), opposite), reason="swapped", url=url
    )

    assert made.n_corrected == N


def test_columns_and_content_belong_to_the_samples_that_their_index_names(url: str) -> None:
    offdiag.log_run(
        y_true=TRUTH, y_pred=FOUND, sample_ids=IDS, name="run", dataset="late", url=url
    )
    moved, said = SITE.sort_index(), TRUTH.sort_index()

    first = offdiag.add_slices(dataset="late", ids=IDS, columns={"site": moved}, url=url)
    again = offdiag.add_slices(dataset="late", ids=IDS, columns={"site": SITE}, url=url)
    assert (first.columns, again.columns) == (("site",), ())

    offdiag.log_samples(dataset="late", ids=IDS, text=said, fields=said.to_frame("said"), url=url)
    same = offdiag.log_samples(
        dataset="late", ids=IDS, text=TRUTH, fields={"said": TRUTH}, url=url
    )
    assert same.n_unchanged == N

    strange = SITE.set_axis(range(N))
    with pytest.raises(InvalidInput, match="index differs from that of"):
        offdiag.add_slices(dataset="late", ids=IDS, columns={"place": strange}, url=url)
    with pytest.raises(InvalidInput, match="index differs from that of"):
        offdiag.log_samples(dataset="late", ids=IDS, text=strange, url=url)


def test_an_index_of_the_identifiers_in_another_order_is_refused(url: str) -> None:
    ids = [f"s{number}" for number in range(N)]
    truth = pd.Series(TRUTH.to_numpy(), index=ids)

    def log(**changed: Any) -> None:
        facts: dict[str, Any] = {"y_true": truth, "y_pred": truth, "sample_ids": ids} | changed
        offdiag.log_run(**facts, name="run", dataset="by id", url=url)

    log()
    log(y_true=TRUTH.to_numpy(), sample_ids=np.array(ids))
    with pytest.raises(InvalidInput, match="has the identifiers in another order"):
        log(y_true=TRUTH.to_numpy(), y_pred=truth[::-1], sample_ids=truth.index)
    for changed in (
        {"y_true": truth[::-1], "y_pred": truth[::-1]},
        {"slices": {"s": truth[::-1]}},
    ):
        with pytest.raises(InvalidInput, match="has the identifiers in another order"):
            log(**changed)
    with pytest.raises(InvalidInput, match=r"columns\['site'\]|slices\['site'\]"):
        offdiag.add_slices(dataset="by id", ids=ids, columns={"site": truth[::-1]}, url=url)


STORED = pd.Series(TRUTH.to_numpy())
FOLDS = pd.concat([STORED[1::2], STORED[::2]])
"""Predictions of two folds, one behind the other, which keep the numbers of their rows."""


def by_position(url: str) -> str:
    dataset = f"dataset {next(_numbers)}"
    offdiag.log_run(y_true=STORED, y_pred=STORED, name="run", dataset=dataset, url=url)
    return dataset


def run_alone(url: str, dataset: str, found: pd.Series[str]) -> object:
    return offdiag.log_run(y_pred=found, name="folds", dataset=dataset, url=url)


def run_of_scores(url: str, dataset: str, found: pd.Series[str]) -> object:
    score = {label: (found == label).astype(float) for label in ("ill", "well")}
    return offdiag.log_run(y_score=score, name="folds", dataset=dataset, url=url)


def batch_alone(url: str, dataset: str, found: pd.Series[str]) -> object:
    with offdiag.start_run(name="folds", dataset=dataset, url=url) as run:
        run.log(y_pred=found)
    return run


def frame_alone(url: str, dataset: str, found: pd.Series[str]) -> object:
    frame = found.to_frame("yhat")
    return offdiag.log_frame(frame, actual=None, name="folds", dataset=dataset, url=url)


def columns_alone(url: str, dataset: str, found: pd.Series[str]) -> object:
    return offdiag.add_slices(dataset=dataset, columns={"found": found}, url=url)


@pytest.mark.parametrize(
    "entry", [run_alone, run_of_scores, batch_alone, frame_alone, columns_alone]
)
def test_rows_that_are_numbered_in_another_order_than_the_stored_ones_are_refused(
    url: str, entry: Callable[..., object]
) -> None:
    dataset = by_position(url)

    with pytest.raises(InvalidInput, match="its index has the numbers 0 to 39 in another order"):
        entry(url, dataset, FOLDS)

    entry(url, dataset, FOLDS.sort_index())
    entry(url, by_position(url), FOLDS.sort_index().set_axis(INDEX))


def test_rows_that_are_numbered_in_another_order_may_have_identifiers(url: str) -> None:
    ids = [f"row {number}" for number in range(N)]
    offdiag.log_run(
        y_true=STORED, y_pred=STORED, sample_ids=ids, name="run", dataset="folds by id", url=url
    )
    named = [ids[number] for number in FOLDS.index]

    run = offdiag.log_run(
        y_pred=FOLDS, sample_ids=named, name="folds", dataset="folds by id", url=url
    )

    assert run.evaluation().aggregate["overall_accuracy"].value == 1
