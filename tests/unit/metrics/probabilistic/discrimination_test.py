"""Area under the ROC curve, average precision and the Kolmogorov-Smirnov distance."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.probabilistic.discrimination import average_precision, ks, roc_auc
from offdiag.metrics.probabilistic.ranked import rank_scores
from support.forecasts import exact_auc, exact_average_precision, ranked


def test_a_perfect_order_scores_one_everywhere() -> None:
    scores = ranked([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])

    assert (roc_auc(scores).value, average_precision(scores).value, ks(scores).value) == (1, 1, 1)


def test_a_reversed_order_has_area_zero_and_is_not_clipped() -> None:
    scores = ranked([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])

    assert roc_auc(scores).value == 0
    assert ks(scores).value == 1


def test_scores_that_are_all_equal_separate_nothing() -> None:
    scores = ranked([1, 0, 1, 0, 0], [0.7] * 5)

    assert roc_auc(scores).value == 0.5
    assert average_precision(scores).value == 0.4
    assert ks(scores).value == 0


def test_ties_count_one_half() -> None:
    assert roc_auc(ranked([1, 0, 0], [0.5, 0.5, 0.1])).value == 0.75


@pytest.mark.parametrize(
    ("actual", "reason"),
    [([0, 0], Reason.NO_ACTUAL_POSITIVES), ([1, 1], Reason.NO_ACTUAL_NEGATIVES)],
)
def test_one_class_alone_leaves_area_and_distance_undefined(
    actual: list[int], reason: Reason
) -> None:
    scores = ranked(actual, [0.2, 0.9])

    assert roc_auc(scores).reason == reason
    assert ks(scores).reason == reason
    assert roc_auc(scores).value is None


def test_average_precision_needs_positive_cases_only() -> None:
    assert average_precision(ranked([1, 1], [0.1, 0.9])).value == 1
    assert average_precision(ranked([0, 0], [0.1, 0.9])).reason == Reason.NO_ACTUAL_POSITIVES


def test_many_ties_agree_with_the_definitions_taken_literally() -> None:
    generator = np.random.default_rng(3)
    actual = generator.integers(0, 2, 200).tolist()
    scores = (generator.integers(0, 12, 200) / 11).tolist()

    assert roc_auc(ranked(actual, scores)).value == float(exact_auc(actual, scores))
    assert average_precision(ranked(actual, scores)).value == pytest.approx(
        float(exact_average_precision(actual, scores)), rel=1e-14
    )


def test_the_area_of_many_cases_is_exact() -> None:
    # 60,000 positive cases above, 60,000 level with and 60,001 below 60,000 negative ones.
    n = 60_000
    scores = np.repeat(np.array([3, 2, 1, 2], dtype=np.float32), [n, n, n + 1, n])
    is_positive = np.arange(len(scores)) < 3 * n + 1

    value = roc_auc(rank_scores(is_positive, scores)).value

    assert value == (2 * n * n + n * n) / (2 * n * (3 * n + 1))
