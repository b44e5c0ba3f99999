"""Area under the ROC curve, average precision and the Kolmogorov-Smirnov distance."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.scores.discrimination import (
    auc_averages,
    average_precision,
    ks,
    pairwise_wins,
    roc_auc,
)
from offdiag.metrics.scores.ranking import rank_scores
from support.forecasts import exact_auc, of_table, ranked


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


def test_the_area_of_many_cases_is_exact() -> None:
    # 60,000 positive cases above, 60,000 level with and 60,001 below 60,000 negative ones.
    n = 60_000
    scores = np.repeat(np.array([3, 2, 1, 2], dtype=np.float32), [n, n, n + 1, n])
    is_positive = np.arange(len(scores)) < 3 * n + 1

    value = roc_auc(rank_scores(is_positive, scores)).value

    assert value == (2 * n * n + n * n) / (2 * n * (3 * n + 1))


ACTUAL = np.array([0, 0, 1, 1, 2, 2, 2], dtype=np.uint8)
SCORES = np.array(
    [
        [0.6, 0.3, 0.1],
        [0.3, 0.4, 0.3],
        [0.3, 0.4, 0.3],
        [0.5, 0.4, 0.1],
        [0.2, 0.2, 0.6],
        [0.1, 0.5, 0.4],
        [0.3, 0.4, 0.3],
    ]
)


def area(code: int, against: list[int]) -> float:
    """Area of class `code` by its own scores among the samples of the classes named."""
    chosen = np.isin(ACTUAL, [code, *against])
    return float(exact_auc((ACTUAL[chosen] == code).tolist(), SCORES[chosen, code].tolist()))


def test_averages_follow_their_definitions() -> None:
    values = auc_averages(pairwise_wins(of_table(ACTUAL, SCORES)))

    against_rest = [area(0, [1, 2]), area(1, [0, 2]), area(2, [0, 1])]
    against_one = [(area(i, [j]) + area(j, [i])) / 2 for i, j in ((0, 1), (0, 2), (1, 2))]
    assert {key: value.value for key, value in values.items()} == {
        "roc_auc_ovr_macro": np.average(against_rest),
        "roc_auc_ovr_weighted": np.average(against_rest, weights=[2, 2, 3]),
        "roc_auc_ovo_macro": np.average(against_one),
        "roc_auc_ovo_weighted": np.average(against_one, weights=[4, 5, 5]),
    }


def test_an_absent_class_makes_every_average_undefined() -> None:
    table = np.hstack([SCORES, np.zeros((7, 1))])

    wins = pairwise_wins(of_table(ACTUAL, table))

    assert {value.reason for value in auc_averages(wins).values()} == {
        Reason.CLASS_VALUE_UNDEFINED
    }


def test_one_actual_class_leaves_nothing_to_compare_with() -> None:
    wins = pairwise_wins(of_table(np.zeros(3, dtype=np.uint8), SCORES[:3]))

    assert auc_averages(wins)["roc_auc_ovo_macro"].reason == Reason.CLASS_VALUE_UNDEFINED


def test_one_declared_class_has_no_area() -> None:
    wins = pairwise_wins(of_table(np.zeros(3, dtype=np.uint8), np.ones((3, 1))))

    assert {value.reason for value in auc_averages(wins).values()} == {Reason.TOO_FEW_CLASSES}
