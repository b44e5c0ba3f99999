"""Slices of labels in memory, weighted or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import offdiag
from offdiag import evaluate_labels
from offdiag.errors import Conflict, InvalidInput
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.store.database import Database
from support.logging_runs import work_off

N = 1_200
Names = NDArray[np.str_]


def drawn(seed: int, *, bad_site: float = 0.0) -> dict[str, Any]:
    """Three classes, four of five right; at site z `bad_site` fewer."""
    rng = np.random.default_rng(seed)
    true = rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
    slices = {"site": rng.choice(["x", "y", "z"], N), "device": rng.choice(["1", "2"], N)}
    right = rng.random(N) < 0.8 - bad_site * (slices["site"] == "z")
    other = rng.choice(["a", "b", "c"], N)
    return {"y_true": true, "y_pred": np.where(right, true, other), "slices": slices}


def test_the_table_is_that_of_a_run(sqlite_database: Database) -> None:
    given = drawn(1, bad_site=0.3)
    run = offdiag.log_run(name="r", dataset="d", url=sqlite_database.url, **given)
    work_off(sqlite_database)

    found = evaluate_labels(**given).slices()

    assert found["slice"].iloc[0] == "site=z"
    pd.testing.assert_frame_equal(found, offdiag.get_run(run.id, url=sqlite_database.url).slices())
    only = evaluate_labels(**given).slices("recall", limit=2)
    assert list(only["metric"]) == ["recall", "recall"]


def test_a_metric_is_named_as_elsewhere_and_refused_if_slices_are_not_tested_on_it(
    sqlite_database: Database,
) -> None:
    given = drawn(1, bad_site=0.3)
    run = offdiag.log_run(name="r", dataset="d", url=sqlite_database.url, **given)
    work_off(sqlite_database)

    for found in (evaluate_labels(**given), offdiag.get_run(run.id, url=sqlite_database.url)):
        assert set(found.slices("sensitivity")["metric"]) == {"recall"}
        assert set(found.slices("accuracy")["metric"]) == {"overall_accuracy"}
        with pytest.raises(InvalidInput, match="not tested on 'specificity'") as refused:
            found.slices("specificity")
        assert refused.value.field == "metric"
        assert "recall" in (refused.value.hint or "")


def test_equal_weights_say_what_counts_say() -> None:
    given = drawn(2, bad_site=0.15)

    counted = evaluate_labels(**given).slices()
    weighted = evaluate_labels(**given, sample_weight=np.full(N, 0.3)).slices()

    sizes = weighted.pop("n_effective")
    assert sizes.to_numpy() == pytest.approx(weighted["cases"].to_numpy())
    pd.testing.assert_frame_equal(
        weighted.drop(columns="hits"), counted.drop(columns="hits"), rtol=1e-6
    )


def test_values_are_those_of_the_weights() -> None:
    given = drawn(3, bad_site=0.2)
    weight = np.random.default_rng(3).exponential(1.0, N)
    inside = given["slices"]["site"] == "z"

    def evaluated(members: NDArray[np.bool_]) -> WeightedEvaluation:
        true, predicted = given["y_true"][members], given["y_pred"][members]
        return evaluate_labels(
            y_true=true, y_pred=predicted, labels="abc", sample_weight=weight[members]
        )

    found = evaluate_labels(**given, sample_weight=weight).slices()

    rows = found[found["slice"] == "site=z"]
    here, there = evaluated(inside), evaluated(~inside)
    assert set(rows["metric"]) >= {"overall_accuracy", "macro_f1", "mcc", "recall"}
    for row in rows.to_dict("records"):
        key, label = row["metric"], row["label"]
        values = [
            (each.per_class[key][label] if key == "recall" else each.aggregate[key]).value
            for each in (here, there)
        ]
        assert [row["value"], row["rest"]] == pytest.approx(values)
        assert row["gap_low"] < row["gap"] < row["gap_high"]
    accuracy = rows[rows["metric"] == "overall_accuracy"].iloc[0]
    assert accuracy["n_samples"] == accuracy["cases"] == inside.sum()
    wrong = (given["y_true"] != given["y_pred"]) * weight
    assert accuracy["share_of_errors"] == pytest.approx(wrong[inside].sum() / wrong.sum())


def test_the_effective_size_is_that_of_resampled_samples() -> None:
    """Weights are larger where predictions are right: fewer equal samples than Kish's."""
    given = drawn(4)
    rng = np.random.default_rng(4)
    right = given["y_true"] == given["y_pred"]
    weight = rng.exponential(1.0, N) * np.where(right, 1.0, 2.5)
    evaluation = evaluate_labels(**given, sample_weight=weight)
    rows = evaluation.slices("overall_accuracy", limit=1_000)
    row = rows[rows["slice"].isin(["site=x", "site=y", "site=z"])].iloc[0]
    members = np.flatnonzero(given["slices"]["site"] == row["slice"].removeprefix("site="))

    drawn_again = members[rng.integers(0, len(members), (4_000, len(members)))]
    values = (weight[drawn_again] * right[drawn_again]).sum(1) / weight[drawn_again].sum(1)

    expected = np.sqrt(row["value"] * (1 - row["value"]) / row["n_effective"])
    assert expected == pytest.approx(values.std(), rel=0.06)
    assert row["n_effective"] < weight[members].sum() ** 2 / (weight[members] ** 2).sum()


def test_without_any_effect_few_weighted_evaluations_show_one() -> None:
    shown = 0
    for seed in range(7):
        given = drawn(1_000 + seed)
        weight = np.random.default_rng(seed).lognormal(0, 1, N)
        weight *= np.where(given["y_true"] == "c", 5.0, 1.0)
        frame = evaluate_labels(**given, sample_weight=weight).slices(limit=1_000)
        shown += bool(frame["is_significant"].any())

    # Of 7 at 5 % more than 2 show one with a probability of 0.4 %.
    assert shown <= 2


def test_where_one_class_is_always_predicted_averages_are_not_tested() -> None:
    given = drawn(6) | {"y_pred": np.full(N, "a")}
    weight = np.random.default_rng(6).exponential(1.0, N)

    found = evaluate_labels(**given, sample_weight=weight).slices(limit=1_000)

    assert "overall_accuracy" in set(found["metric"])
    assert "mcc" not in set(found["metric"])


def test_heavy_weights_are_not_taken_for_many_samples() -> None:
    given = drawn(5, bad_site=0.12)
    weight = np.ones(N)
    weight[np.flatnonzero(given["slices"]["site"] == "z")[::40]] = 200.0

    light = evaluate_labels(**given).slices("overall_accuracy")
    heavy = evaluate_labels(**given, sample_weight=weight).slices("overall_accuracy", limit=1_000)

    assert light["slice"].iloc[0] == "site=z"
    assert light["is_significant"].iloc[0]
    sizes = dict(zip(heavy["slice"], heavy["n_effective"], strict=True))
    assert sizes.get("site=z", 0) < 20
    assert not heavy[heavy["slice"] == "site=z"]["is_significant"].any()


def test_without_columns_there_are_none() -> None:
    labels: dict[str, Any] = {"y_true": ["a", "b"], "y_pred": ["a", "b"]}
    for evaluation in (
        evaluate_labels(**labels),
        evaluate_labels(**labels, sample_weight=[1.0, 2.0]),
    ):
        with pytest.raises(Conflict, match="has no slices"):
            evaluation.slices()
    with pytest.raises(InvalidInput, match="slices"):
        evaluate_labels(**labels, slices={"site": ["x"]})


def test_no_interval_of_a_difference_exceeds_what_the_metric_can_differ() -> None:
    """The test of an average is bounded by that of all rates, so p near 1 is common."""
    rng = np.random.default_rng(5)
    true = rng.choice(["a", "b"], N)
    predicted = np.where(rng.random(N) < 0.8, true, "a")
    sites = rng.choice([f"site {each}" for each in range(12)], N)

    found = evaluate_labels(y_true=true, y_pred=predicted, slices={"site": sites}).slices(
        limit=1_000
    )

    shares = found[~found["metric"].isin(["mcc", "cohen_kappa"])]
    assert {"balanced_accuracy", "macro_f1", "recall"} <= set(shares["metric"])
    assert shares["gap_low"].min() >= -1
    assert shares["gap_high"].max() <= 1
