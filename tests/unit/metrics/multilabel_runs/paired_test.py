"""Multi-label runs on the same samples: slopes, errors and counts are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.multilabel.examples import Overlap
from offdiag.metrics.multilabel.suite import OF_SETS, set_metrics
from offdiag.metrics.multilabel.tally import tally_sets
from offdiag.metrics.multilabel_runs import paired as module
from offdiag.metrics.multilabel_runs.best_of_many import best_of_many_sets
from offdiag.metrics.multilabel_runs.judged_sets import judge_sets_together
from offdiag.metrics.multilabel_runs.paired import PairedSets, has_slopes, label_rates
from offdiag.metrics.paired.joint_counts import joint_counts
from support.set_runs import paired_runs, random_sets

KEYS = tuple(key for key in OF_SETS if has_slopes(key))


def value(actual: NDArray[np.bool_], predicted: NDArray[np.bool_], key: str) -> float:
    found = set_metrics(tally_sets(actual, predicted))[key].value
    assert found is not None
    return found


@pytest.mark.parametrize("key", KEYS)
def test_the_linear_part_is_the_difference_to_first_order(key: str) -> None:
    """One set of ten thousand is changed: the slopes then tell the whole difference."""
    actual, predicted = random_sets(10_000, 5)
    predicted[0] = ~predicted[0]
    changed = predicted.copy()
    changed[0] = actual[0]
    gap = value(actual, changed, key) - value(actual, predicted, key)

    spread = paired_runs(actual, predicted, changed).spread([key])

    assert spread.linear[0, 1, 0] == pytest.approx(gap, rel=2e-3)
    assert spread.errors[0, 0, 1] == pytest.approx(abs(gap), rel=2e-3)


@pytest.mark.parametrize("key", [key for key in KEYS if key.startswith("example_")])
def test_what_sets_score_averages_to_the_metric(key: str) -> None:
    actual, predicted = random_sets(500, 3, wrong=0.4)
    predicted[:50] = False
    actual[40:60] = False

    assert Overlap.of(actual, predicted).values(key).mean() == pytest.approx(
        value(actual, predicted, key)
    )


def test_subset_accuracy_is_mcnemars_test() -> None:
    actual, first = random_sets(400, 4)
    second = actual ^ (np.random.default_rng(3).random(actual.shape) < 0.1)
    runs = paired_runs(actual, first, second)
    right = [(each == actual).all(axis=1).astype(np.uint8) for each in (first, second)]
    joint = joint_counts(
        actual=np.ones(400, np.uint8),
        first=right[0],
        second=right[1],
        labels=LabelSet.numbered(2),
    )
    gap = float(right[1].mean() - right[0].mean())

    found = judge_sets_together(runs, {"subset_accuracy": gap}).statistics["subset_accuracy"]

    b, c = int(joint.accuracy.only_first), int(joint.accuracy.only_second)
    assert found.t == pytest.approx((c - b) / np.sqrt(b + c))


def test_swapped_runs_have_the_opposite_statistics_to_the_last_bit() -> None:
    actual, first = random_sets(300, 4)
    second = actual ^ (np.random.default_rng(3).random(actual.shape) < 0.1)
    gaps = {"macro_f1": 0.1, "hamming_loss": -0.02, "example_jaccard": 0.03}

    one = judge_sets_together(paired_runs(actual, first, second), gaps)
    other = judge_sets_together(
        paired_runs(actual, second, first), {key: -gap for key, gap in gaps.items()}
    )

    assert one.critical == other.critical
    for key, found in one.statistics.items():
        assert (-found.linear, found.error) == (
            other.statistics[key].linear,
            other.statistics[key].error,
        )


def test_blocks_do_not_change_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    actual, first = random_sets(300, 9)
    second = actual ^ (np.random.default_rng(3).random(actual.shape) < 0.1)
    whole = paired_runs(actual, first, second)
    rates, spread = label_rates(whole), whole.spread(["macro_f1"])
    monkeypatch.setattr(module, "BLOCK", 7)
    again = paired_runs(actual, first, second)

    assert label_rates(again).hits.only_first.tolist() == rates.hits.only_first.tolist()
    assert again.both_right.tolist() == whole.both_right.tolist()
    assert again.spread(["macro_f1"]).errors == pytest.approx(spread.errors)
    hits = (first & actual, second & actual)
    assert whole.both_right[:, 0, 1].tolist() == (hits[0] & hits[1]).sum(axis=0).tolist()


def test_the_best_of_equally_good_runs_is_corrected_downwards() -> None:
    rng = np.random.default_rng(5)
    actual = rng.random((150, 4)) < 0.4
    predicted = [actual ^ (rng.random(actual.shape) < 0.2) for _ in range(12)]
    runs: PairedSets = paired_runs(actual, *predicted)

    found = best_of_many_sets(runs, ("subset_accuracy", "hamming_loss", "macro_f1"), seed=1)

    best, loss = found["subset_accuracy"], found["hamming_loss"]
    assert best.value == max(value(actual, each, "subset_accuracy") for each in predicted)
    assert best.corrected.value == pytest.approx(0.8**4, abs=0.03)
    assert loss.value < 0.2 - 0.02
    assert loss.corrected.value == pytest.approx(0.2, abs=0.01)
