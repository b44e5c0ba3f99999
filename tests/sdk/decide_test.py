"""`run.decide`: other answers from the same scores."""

from __future__ import annotations

import pandas as pd
import pytest

import offdiag
from offdiag.errors import InvalidInput
from offdiag.sdk.registry import Threshold
from offdiag.sdk.run import Run

P_ILL = [0.9, 0.3, 0.2, 0.05, 0.6, 0.1] * 5
ACTUAL = ["ill", "ill", "well", "well", "well", "ill"] * 5
VISITS = {"well": {"well": 0, "ill": 1}, "ill": {"well": 10, "ill": 0}}


@pytest.fixture(scope="module")
def run(url: str) -> Run:
    return offdiag.log_run(
        y_true=ACTUAL,
        y_pred=["ill" if p >= 0.5 else "well" for p in P_ILL],
        y_score=P_ILL,
        labels=["well", "ill"],
        positive_label="ill",
        dataset="clinic",
        name="by half",
        url=url,
    )


def test_costs_of_ones_own_decide_what_is_cheapest_to_expect(run: Run) -> None:
    found = run.decide(weights=VISITS)

    assert found.matrix_before.counts.tolist() == [[10, 5], [10, 5]]
    assert found.matrix_after.counts.tolist() == [[5, 10], [0, 15]]
    assert found.mean_cost_before.value == pytest.approx(105 / 30)
    assert found.mean_cost_after.value == pytest.approx(10 / 30)
    assert found.difference.ci_high is not None
    assert found.difference.ci_high < 0
    assert found.recall_changes["ill"].value == pytest.approx(2 / 3)
    assert found.run is None
    assert found.to_dict()["recipe"]["rule"] == "least_expected_cost"
    for given in ({"well": 0.8, "ill": 0.2}, pd.Series({"ill": 0.2, "well": 0.8}), [0.8, 0.2]):
        shares = run.decide(weights=VISITS, prevalence=given)
        assert shares.to_dict()["recipe"]["shares"] == "well:0.8,ill:0.2"


@pytest.mark.parametrize(("threshold", "flagged"), [(0.25, 15), ("cheapest", 25), (0.95, 0)])
def test_a_threshold_flags_from_a_score_on(run: Run, threshold: Threshold, flagged: int) -> None:
    found = run.decide(weights=[[0, 1], [10, 0]], threshold=threshold)

    assert int(found.matrix_after.predicted[1]) == flagged


@pytest.mark.parametrize("threshold", [0.25, "cheapest"])
@pytest.mark.parametrize(
    ("positive", "message"),
    [
        ("well", "the positive class of the dataset is 'ill', not 'well'"),
        ("sick", "there is no class 'sick'"),
    ],
)
def test_a_positive_class_that_the_dataset_contradicts_is_refused(
    run: Run, threshold: Threshold, positive: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        run.decide(weights=VISITS, threshold=threshold, positive=positive)

    assert refused.value.field == "positive"
    same = run.decide(weights=VISITS, threshold=threshold, positive="ill")
    assert same.recipe == run.decide(weights=VISITS, threshold=threshold).recipe


def test_a_threshold_that_was_chosen_on_the_samples_has_no_interval_of_a_difference(
    run: Run,
) -> None:
    stated = run.decide(weights=VISITS, threshold=0.1)
    chosen = run.decide(weights=VISITS, threshold="cheapest")

    assert chosen.matrix_after.digest == stated.matrix_after.digest
    assert chosen.mean_cost_after == stated.mean_cost_after
    for one, other in (
        (chosen.difference, stated.difference),
        (chosen.recall_changes["ill"], stated.recall_changes["ill"]),
    ):
        assert one.value == other.value
        assert (one.ci_low, one.ci_high) == (None, None)
        assert other.ci_low is not None


def test_a_rule_that_the_scores_do_not_allow_is_refused(url: str) -> None:
    margins = offdiag.log_run(
        y_true=["a", "b"],
        y_pred=["a", "b"],
        y_score=[-2.0, 3.0],
        labels=["a", "b"],
        positive_label="b",
        dataset="margins",
        name="svm",
        url=url,
    )

    with pytest.raises(InvalidInput, match="not probabilities: one of them is -2"):
        margins.decide(weights=[[0, 1], [1, 0]])
