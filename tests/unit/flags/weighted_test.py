"""Flags of runs whose samples have weights."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import assess, class_recalls
from offdiag.flags.warning import RaisedFlag, minority_warning
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.weighted.counts import WeightedCounts


def counted(cells: list[list[int]], weights: list[list[float]] | float = 1.0) -> WeightedCounts:
    """Cells of so many samples that all weigh as much, or as each cell says."""
    counts = np.array(cells, dtype=np.int64)
    each = np.broadcast_to(np.asarray(weights, dtype=np.float64), counts.shape)
    labels = LabelSet(tuple(f"c{code}" for code in range(len(cells))))
    return WeightedCounts(
        counts, counts * each, (np.square(each) * counts).astype(np.float64), labels
    )


WITHOUT_FLAGS = [[900, 5], [6, 89]]
MATRICES = [
    [[95, 5], [60, 0]],
    [[950, 0], [50, 0]],
    [[880, 20, 0], [20, 40, 0], [25, 15, 1]],
    [[500, 30, 10], [5, 30, 5], [20, 20, 60]],
    WITHOUT_FLAGS,
    [[900, 60], [2, 38]],
    [[940, 10], [48, 2]],
]


@pytest.mark.parametrize("cells", MATRICES)
@pytest.mark.parametrize("weight", [1.0, 0.1, 7.3])
def test_equal_weights_raise_the_flags_of_counts(cells: list[list[int]], weight: float) -> None:
    of_weights = counted(cells, weight)
    matrix = ConfusionMatrix(np.array(cells), of_weights.labels)

    found, expected = assess(of_weights), assess(matrix)

    assert bool(expected.verdicts) == (cells != WITHOUT_FLAGS)
    assert [(v.rule, v.class_label, v.severity, v.certainty) for v in found.verdicts] == [
        (v.rule, v.class_label, v.severity, v.certainty) for v in expected.verdicts
    ]
    for mine, theirs in zip(found.verdicts, expected.verdicts, strict=True):
        for key, value in theirs.evidence.items():
            assert mine.evidence[key] == (
                pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
            ), (mine.rule, key)
        assert "Weighted, effective size" in mine.message


def test_a_class_that_is_never_found_is_flagged_by_its_weight() -> None:
    found = assess(counted([[930, 10], [60, 0]], [[1.0, 1.0], [0.5, 1.0]]))

    missed = next(v for v in found.verdicts if v.rule == "F3")
    assert found.badge
    assert missed.class_label == "c1"
    assert missed.evidence["effective_size"] == pytest.approx(60)
    assert missed.message.endswith("Weighted, effective size 60.")


def test_what_weights_make_of_the_values_decides() -> None:
    cells = [[900, 100], [100, 900]]
    assert not assess(counted(cells)).badge

    # One in ten of what counts of the class is found, and it is the smaller one.
    found = assess(counted(cells, [[1.0, 1.0], [1.0, 0.01]]))

    gap = next(v for v in found.verdicts if v.rule == "F4" and v.class_label == "c1")
    assert gap.evidence["recall"] == pytest.approx(9 / 109)
    assert found.badge


def test_few_effective_examples_prove_nothing() -> None:
    """Sixty missed examples, of which two have nearly all of the weight."""
    many = counted([[930, 10], [60, 0]])
    heavy = np.concatenate([np.full(2, 30.0), np.full(58, 0.01)])
    few = WeightedCounts(
        many.samples,
        np.array([[930.0, 10.0], [heavy.sum(), 0.0]]),
        np.array([[930.0, 10.0], [np.square(heavy).sum(), 0.0]]),
        many.labels,
    )

    found = assess(few)

    assert few.class_effective[1] == pytest.approx(2.04, abs=0.01)
    assert assess(many).badge
    assert not {"F1", "F2", "F3"} & {v.rule for v in found.verdicts}
    assert not found.badge
    scarce = next(v for v in found.verdicts if v.rule == "F12" and v.class_label == "c1")
    assert scarce.evidence["effective_size"] == pytest.approx(2.04, abs=0.01)


def test_one_light_hit_does_not_make_a_class_large() -> None:
    """The variance of such a share is tiny, and the size that it would give is all examples."""
    misses = np.concatenate([np.full(2, 50.0), np.full(57, 0.01)])
    light = WeightedCounts(
        np.array([[930, 10], [59, 1]]),
        np.array([[930.0, 10.0], [misses.sum(), 0.01]]),
        np.array([[930.0, 10.0], [np.square(misses).sum(), 0.0001]]),
        counted([[1, 0], [0, 1]]).labels,
    )

    found = assess(light)

    assert light.class_effective[1] < 2.1
    assert not found.badge


def test_samples_without_weight_take_no_part() -> None:
    found = assess(counted([[90, 10], [40, 0]], [[1.0, 1.0], [0.0, 0.0]]))

    assert found.not_assessable == "one_actual_class"
    assert found.verdicts == ()


def test_the_warning_says_weighted() -> None:
    few = counted([[930, 10], [57, 3]], [[1.0, 1.0], [1.0, 2.0]])
    recall = class_recalls(few)[1]

    warning = minority_warning(few, [RaisedFlag("F4", "c1", is_proved=True)])

    assert (recall.cases, recall.found) == (60, 3)
    assert recall.recall == pytest.approx(6 / 63)
    assert recall.low < recall.recall < recall.high
    assert warning is not None
    assert "found, weighted" in warning.strong


def test_a_gap_at_the_threshold_is_rarely_called_proved() -> None:
    """The level is 5 % over both classes, of one that is 20 points below the other."""
    rng = np.random.default_rng(5)
    labels = LabelSet(("c0", "c1"))
    n_sets, proved, missed = 100, 0, 0
    for _ in range(n_sets):
        actual = np.repeat([0, 1], [400, 80])
        is_right = rng.random(480) < np.where(actual == 0, 0.9, 0.7)
        weight = rng.lognormal(sigma=1.0, size=480)
        found = assess(
            WeightedCounts.of_samples(
                actual, np.where(is_right, actual, 1 - actual), weight, labels
            )
        )
        proved += found.badge
        missed += any(v.rule in {"F1", "F2", "F3"} for v in found.verdicts)

    assert proved <= 0.05 * n_sets + 2 * np.sqrt(0.05 * 0.95 * n_sets)
    assert missed == 0
