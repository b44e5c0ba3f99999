"""Two runs on the same weighted samples: paired tests of weights, and what is not compared."""

from __future__ import annotations

import numpy as np
import pytest

import offdiag
from offdiag.comparison.pair import PairComparison, compare_paired
from offdiag.comparison.pair_verdict import pair_verdict
from offdiag.comparison.sets_and_weights import compare_weighted
from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict
from offdiag.metrics.counted import class_sizes
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.weighted import WeightedPair
from offdiag.sdk.run import Run

RNG = np.random.default_rng(5)
N = 400
LABELS = LabelSet.numbered(3)
ACTUAL = RNG.choice(3, N, p=[0.6, 0.3, 0.1]).astype(np.uint8)
FIRST, SECOND = (
    np.where(RNG.random(N) < right, ACTUAL, RNG.integers(0, 3, N)).astype(np.uint8)
    for right in (0.7, 0.8)
)
WEIGHT = RNG.exponential(size=N)


def compared(weight: np.ndarray[tuple[int], np.dtype[np.float64]]) -> PairComparison:
    return compare_weighted(WeightedPair(ACTUAL, FIRST, SECOND, weight, LABELS))


def test_equal_weights_give_the_tests_of_counts() -> None:
    joint = joint_counts(actual=ACTUAL, first=FIRST, second=SECOND, labels=LABELS)
    expected = compare_paired(joint)

    found = compared(np.full(N, 0.25))

    assert found.together.critical == pytest.approx(expected.together.critical)
    for key, statistic in expected.together.statistics.items():
        assert found.together.statistics[key].t == pytest.approx(statistic.t), key
    for key in ("precision", "f1"):
        for ours, theirs in zip(found.classes[key], expected.classes[key], strict=True):
            assert ours.p == pytest.approx(theirs.p), key
    assert found.paired is not None
    assert expected.paired is not None
    assert found.paired.churn == expected.paired.churn
    assert found.paired.mcnemar is None


def test_the_difference_of_accuracy_has_the_error_of_weighted_moves() -> None:
    moved = WEIGHT * ((SECOND == ACTUAL).astype(int) - (FIRST == ACTUAL)) / WEIGHT.sum()

    found = compared(WEIGHT).together.statistics["overall_accuracy"]

    assert found.difference == pytest.approx(moved.sum())
    assert found.error == pytest.approx(np.sqrt(np.square(moved).sum()))


def test_a_small_class_is_called_small_by_its_effective_size() -> None:
    is_rare = ACTUAL == 2
    weight = np.where(is_rare & (np.arange(N) < N // 2), 1.0, 0.01)

    pair = compared(np.where(is_rare, weight, 1.0))

    size = class_sizes(pair.first)[2]
    assert size < 20 < np.count_nonzero(is_rare)
    assert pair_verdict(pair).details[-1] == (
        "Intervals of averages over classes are unreliable: the smallest class, 2, has an "
        f"effective size of {size}."
    )


def test_slopes_predict_what_a_little_more_weight_does() -> None:
    found = compared(WEIGHT)
    heavier = compared(WEIGHT * 3)

    for key, statistic in found.together.statistics.items():
        assert heavier.together.statistics[key].t == pytest.approx(statistic.t), key


def test_swapped_runs_differ_by_their_sign_alone() -> None:
    there = compared(WEIGHT)
    back = compare_weighted(WeightedPair(ACTUAL, SECOND, FIRST, WEIGHT, LABELS))

    for one, other in zip(there.metrics, back.metrics, strict=True):
        assert one.difference.value == pytest.approx(-(other.difference.value or 0.0))
        assert one.outcome.is_separable == other.outcome.is_separable


def log(url: str, name: str, predicted: object, weight: object | None) -> Run:
    return offdiag.log_run(
        y_true=ACTUAL,
        y_pred=predicted,
        sample_weight=weight,
        name=name,
        dataset="digits",
        url=url,
    )


def test_stored_runs_are_compared_by_their_weights(registry_url: str) -> None:
    runs = [log(registry_url, "a", FIRST, WEIGHT), log(registry_url, "b", SECOND, WEIGHT)]

    found = offdiag.compare([run.id for run in runs], url=registry_url)

    expected = compared(WEIGHT).metric("mcc").difference
    record = found.to_dict()["result"]
    assert record["metrics"]["mcc"]["difference"]["value"] == pytest.approx(expected.value)
    assert record["metrics"]["mcc"]["difference"]["ci_low"] == pytest.approx(expected.ci_low)
    assert record["mcnemar"] is None
    assert "McNemar" not in str(found)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_weights_that_differ_by_a_constant_factor_are_the_same(
    registry_url: str, order: tuple[int, int]
) -> None:
    normalized = (WEIGHT / WEIGHT.sum()).astype(np.float32)
    runs = [log(registry_url, "a", FIRST, WEIGHT), log(registry_url, "b", SECOND, normalized)]

    found = offdiag.compare([runs[at].id for at in order], url=registry_url)

    sign = 1 if order == (0, 1) else -1
    for key, value in found.to_dict()["result"]["metrics"].items():
        expected = compared(WEIGHT).metric(key).difference.value
        assert value["difference"]["value"] == pytest.approx(sign * (expected or 0.0)), key


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((WEIGHT, None), "A has sample weights, the others have none"),
        ((WEIGHT, WEIGHT[::-1] * 2), "weights of 400 of 400 examples differ"),
        ((WEIGHT, WEIGHT * (1 + (np.arange(N) == 7))), "weights of 1 of 400 examples differ"),
        ((WEIGHT, WEIGHT, WEIGHT), "only two such can be compared"),
    ],
)
def test_runs_of_other_weights_are_not_compared(
    registry_url: str, weights: tuple[object, ...], message: str
) -> None:
    runs = [
        log(registry_url, str(at), (FIRST, SECOND, ACTUAL)[at], weight)
        for at, weight in enumerate(weights)
    ]

    with pytest.raises(Conflict, match=message) as caught:
        str(offdiag.compare([run.id for run in runs], url=registry_url))

    assert caught.value.hint
