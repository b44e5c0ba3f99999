"""Runs that may be the best: no claim that chance could have made, and the same for everybody."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.many_runs import confidence_set as module
from offdiag.metrics.many_runs.best_runs import cost_contest, metric_contest, recall_contests
from offdiag.metrics.many_runs.confidence_set import (
    BestSet,
    Contest,
    best_set_and_pairs,
    confidence_sets,
)
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.many_runs.run_spread import RunSpread, differences
from support.optional import present

HEADLINE = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")
BINARY = LabelSet(("well", "ill"))

Codes = NDArray[np.uint8]


def exchangeable(
    rng: np.random.Generator, *, n: int, m: int, classes: int = 2, rare: float, right: float = 0.85
) -> PairedRuns:
    """Runs that are truly equal: each shares 60 % of its random numbers with the others."""
    shares = np.full(classes, (1 - rare) / (classes - 1))
    shares[-1] = rare
    actual = rng.choice(classes, n, p=shares)
    common = rng.random(n), rng.integers(1, classes, n)
    predictions = []
    for _ in range(m):
        own = rng.random(n), rng.integers(1, classes, n)
        luck, slip = (
            np.where(rng.random(n) < 0.6, shared, alone)
            for shared, alone in zip(common, own, strict=True)
        )
        predicted = np.where(luck < right, actual, (actual + slip) % classes)
        predictions.append(predicted.astype(np.uint8))
    labels = LabelSet.numbered(classes)
    return PairedRuns(actual.astype(np.uint8), tuple(predictions), labels)


def headline_sets(runs: PairedRuns, *, draws: int = 2_000) -> tuple[BestSet, ...]:
    (sets,) = confidence_sets([metric_contest(runs, HEADLINE)], seed=1, draws=draws)
    return sets


def out(found: BestSet) -> list[int]:
    return np.flatnonzero(found.is_tested & ~found.is_in).tolist()


def worse(runs: PairedRuns, *, run: int, share: float, seed: int = 0) -> Codes:
    """The predictions of a run, with a share of the samples predicted wrongly."""
    rng = np.random.default_rng(seed)
    spoilt = (runs.actual + 1) % len(runs.labels)
    return np.where(rng.random(len(runs.actual)) < share, spoilt, runs.predictions[run]).astype(
        np.uint8
    )


@pytest.mark.parametrize(
    ("n", "m", "classes", "rare", "n_sets"),
    [(200, 5, 2, 0.5, 200), (300, 6, 4, 0.1, 100)],
)
def test_of_equal_runs_some_is_out_in_at_most_one_of_twenty_sets(
    n: int, m: int, classes: int, rare: float, n_sets: int
) -> None:
    rng = np.random.default_rng(3)
    any_out = 0
    for _ in range(n_sets):
        runs = exchangeable(rng, n=n, m=m, classes=classes, rare=rare)
        any_out += any(out(found) for found in headline_sets(runs, draws=400))
    assert any_out / n_sets <= 0.05 + 2 * sqrt(0.05 * 0.95 / n_sets)


def test_recall_of_no_class_tells_equal_runs_apart_more_often_than_it_may() -> None:
    rng = np.random.default_rng(4)
    any_out = 0
    for _ in range(100):
        contests = recall_contests(exchangeable(rng, n=300, m=6, classes=5, rare=0.2))
        any_out += any(out(found) for (found,) in confidence_sets(contests, seed=1, draws=400))
    assert any_out / 100 <= 0.05 + 2 * sqrt(0.05 * 0.95 / 100)


def test_runs_that_are_worse_are_found_and_equal_ones_are_not() -> None:
    runs = exchangeable(np.random.default_rng(5), n=2_000, m=4, rare=0.5)
    bad = tuple(worse(runs, run=run, share=0.1, seed=run) for run in range(4))
    both = PairedRuns(runs.actual, runs.predictions + bad, runs.labels)
    for found in headline_sets(both):
        assert out(found) == [4, 5, 6, 7]


def test_the_set_beside_the_pairs_is_the_one_alone() -> None:
    runs = exchangeable(np.random.default_rng(5), n=2_000, m=4, rare=0.5)
    bad = tuple(worse(runs, run=run, share=0.1, seed=run) for run in range(4))
    both = PairedRuns(runs.actual, runs.predictions + bad, runs.labels)
    contest = metric_contest(both, HEADLINE[:1])

    found, pairs = best_set_and_pairs(contest, seed=1)

    ((alone,),) = confidence_sets([contest], seed=1)
    assert pairs is not None
    assert out(found) == out(alone) == [4, 5, 6, 7]
    assert found.compared == alone.compared


def test_two_runs_are_out_where_mcnemar_says_so() -> None:
    actual = np.zeros(200, np.uint8)
    actual[100:] = 1
    first = actual.copy()
    for lost, is_out in ((3, False), (4, True)):
        # Against one sample of its own the second run loses some: (lost - 0)²/lost > 1.96².
        second = actual.copy()
        second[:lost] = 1
        (found,) = confidence_sets(
            [metric_contest(PairedRuns(actual, (first, second), BINARY), HEADLINE[:1])], seed=1
        )
        compared = present(found[0].compared[1])
        assert compared.p == pytest.approx(_chi_square_p(lost))
        assert (out(found[0]) == [1]) == is_out


def _chi_square_p(chi2: float) -> float:
    from scipy.special import gammaincc

    return float(gammaincc(0.5, chi2 / 2))


def test_interval_and_p_value_agree_with_being_out() -> None:
    runs = exchangeable(np.random.default_rng(6), n=600, m=5, rare=0.2)
    bad = tuple(worse(runs, run=run, share=0.05, seed=run) for run in range(5))
    both = PairedRuns(runs.actual, runs.predictions + bad, runs.labels)
    seen = set()
    for found in headline_sets(both):
        for run, compared in enumerate(found.compared):
            if compared is None:
                continue
            is_out = run in out(found)
            seen.add(is_out)
            assert (compared.difference + present(compared.reach) < 0) == is_out
            assert (present(compared.p_adjusted) < 0.05) == is_out
            assert present(compared.p) <= present(compared.p_adjusted)
    assert seen == {True, False}


def test_an_adjusted_p_value_is_no_smaller_than_the_draws_can_show() -> None:
    runs = exchangeable(np.random.default_rng(6), n=600, m=5, rare=0.2)
    bad = (worse(runs, run=0, share=0.5, seed=0),)
    both = PairedRuns(runs.actual, runs.predictions + bad, runs.labels)
    for found in headline_sets(both, draws=999):
        compared = found.compared[5]
        assert compared is not None
        assert present(compared.p) < 1e-6
        assert compared.p_adjusted == pytest.approx(1 / 1_000)


def test_another_order_of_the_runs_changes_nothing_else() -> None:
    runs = exchangeable(np.random.default_rng(7), n=400, m=6, classes=3, rare=0.2)
    turn = [4, 2, 0, 5, 1, 3]
    turned = PairedRuns(runs.actual, tuple(runs.predictions[at] for at in turn), runs.labels)
    for found, again in zip(headline_sets(runs), headline_sets(turned), strict=True):
        assert again.is_in.tolist() == found.is_in[turn].tolist()
        assert [turn[at] for at in again.highest] == list(found.highest)
        for at, compared in zip(turn, again.compared, strict=True):
            before = found.compared[at]
            assert (before is None) == (compared is None)
            if before is not None and compared is not None:
                assert before.reach == pytest.approx(compared.reach)
                assert before.p_adjusted == compared.p_adjusted


@pytest.mark.parametrize("copied", [0, 4])
def test_a_copy_of_a_run_stands_where_the_run_stands(copied: int) -> None:
    runs = exchangeable(np.random.default_rng(8), n=800, m=4, rare=0.5)
    bad = worse(runs, run=0, share=0.15)
    without = PairedRuns(runs.actual, (*runs.predictions, bad), runs.labels)
    copies = (*without.predictions, without.predictions[copied])
    with_copy = PairedRuns(runs.actual, copies, runs.labels)
    for found, again in zip(headline_sets(without), headline_sets(with_copy), strict=True):
        assert again.is_in[copied] == again.is_in[5]
        assert again.is_in[:5].tolist() == found.is_in.tolist()


def test_runs_with_the_same_predictions_are_one_set_and_all_highest() -> None:
    runs = exchangeable(np.random.default_rng(9), n=100, m=1, rare=0.5)
    same = PairedRuns(runs.actual, runs.predictions * 3, runs.labels)
    for found in headline_sets(same):
        assert found.is_in.all()
        assert found.highest == (0, 1, 2)
        assert found.compared == (None, None, None)


def test_a_run_out_only_because_of_another_than_the_highest_is_compared_with_that_one() -> None:
    # The third run is close to the second and differs widely from the first.
    values = np.array([[0.90, 0.89, 0.85]])
    errors = np.array([[[0, 0.03, 0.03], [0.03, 0, 0.008], [0.03, 0.008, 0]]])
    covariance = np.array(
        [[0.9e-3, 0.03e-3, 0.03e-3], [0.03e-3, 0.06e-3, 0.03e-3], [0.03e-3, 0.03e-3, 0.06e-3]]
    )
    spread = RunSpread(differences(values), covariance, errors, np.zeros_like(errors))
    contest = Contest(values, spread, np.arange(3), np.array([True]))
    ((found,),) = confidence_sets([contest], seed=1)
    assert out(found) == [2]
    compared = found.compared[2]
    assert compared is not None
    assert compared.rival == 1
    assert compared.difference == pytest.approx(-0.04)
    assert compared.difference + present(compared.reach) < 0


def test_a_run_without_a_value_takes_no_part() -> None:
    runs = exchangeable(np.random.default_rng(10), n=500, m=3, rare=0.5)
    constant = np.zeros(500, np.uint8)
    both = PairedRuns(runs.actual, (*runs.predictions, constant), runs.labels)
    accuracy, _, mcc, *_ = headline_sets(both)
    assert out(accuracy) == [3]
    assert mcc.is_tested.tolist() == [True, True, True, False]
    assert mcc.compared[3] is None


def test_below_five_samples_of_a_class_averages_and_its_recall_are_not_tested() -> None:
    runs = exchangeable(np.random.default_rng(11), n=400, m=3, classes=3, rare=0.2)
    actual = np.where(runs.actual == 2, 1, runs.actual).astype(np.uint8)
    actual[:4] = 2
    bad = worse(runs, run=0, share=0.3)
    few = PairedRuns(actual, (*runs.predictions, bad), runs.labels)
    tested = [found.is_tested.any() for found in headline_sets(few)]
    assert dict(zip(HEADLINE, tested, strict=True)) == {
        "overall_accuracy": True,
        "balanced_accuracy": False,
        "mcc": True,
        "macro_f1": False,
        "cohen_kappa": True,
    }
    recall = [found for (found,) in confidence_sets(recall_contests(few), seed=1)]
    assert [found.is_tested.any() for found in recall] == [True, True, False]
    assert recall[2].highest


def test_a_class_without_samples_drops_out() -> None:
    runs = exchangeable(np.random.default_rng(12), n=300, m=3, rare=0.5)
    wider = PairedRuns(runs.actual, runs.predictions, LabelSet.numbered(3))
    assert all(found.is_tested.all() for found in headline_sets(wider))
    recall = [found for (found,) in confidence_sets(recall_contests(wider), seed=1)]
    assert [found.is_tested.any() for found in recall] == [True, True, False]
    assert recall[2].highest == ()


def test_the_lower_cost_is_the_better_one() -> None:
    runs = exchangeable(np.random.default_rng(13), n=1_000, m=3, rare=0.5)
    bad = worse(runs, run=0, share=0.1)
    both = PairedRuns(runs.actual, (bad, *runs.predictions), runs.labels)
    costs = CostMatrix(np.array([[0.0, 1.0], [10.0, 0.0]]), runs.labels)
    for prevalence in (None, np.array([0.9, 0.1])):
        ((found,),) = confidence_sets([cost_contest(both, costs, prevalence=prevalence)], seed=1)
        assert out(found) == [0]
        assert 0 not in found.highest


def test_only_the_highest_200_runs_are_tested() -> None:
    values = np.linspace(0.5, 0.9, 203)[np.newaxis]
    covariance = np.diag(np.full(203, 1e-4))
    errors = np.sqrt(2e-4) * (1 - np.eye(203))[np.newaxis]
    spread = RunSpread(differences(values), covariance, errors, np.zeros_like(errors))
    contest = Contest(values, spread, np.arange(203), np.array([True]))
    ((found,),) = confidence_sets([contest], seed=1, draws=200)
    assert np.flatnonzero(~found.is_tested).tolist() == [0, 1, 2]


def test_too_many_pairs_to_draw_are_bounded_and_no_less_strict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = exchangeable(np.random.default_rng(14), n=1_000, m=4, rare=0.5)
    bad = worse(runs, run=0, share=0.12)
    both = PairedRuns(runs.actual, (*runs.predictions, bad), runs.labels)
    drawn = headline_sets(both)
    monkeypatch.setattr(module, "MOST_DRAWN_PAIRS", 1)
    for before, found in zip(drawn, headline_sets(both), strict=True):
        assert out(found) == out(before) == [4]
        compared, looser = found.compared[4], before.compared[4]
        assert (present(compared).reach or nan) >= (present(looser).reach or nan)


@pytest.mark.parametrize(("confidence", "draws"), [(1.0, 100), (0.0, 100), (0.95, 0)])
def test_no_level_and_no_draws_are_refused(confidence: float, draws: int) -> None:
    with pytest.raises(InvalidInput):
        confidence_sets([], seed=1, confidence=confidence, draws=draws)
