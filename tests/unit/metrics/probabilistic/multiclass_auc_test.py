"""Areas for several classes, against the rest and against each other."""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import Reason
from offdiag.metrics.probabilistic.multiclass_auc import auc_averages, ovr_auc, pairwise_wins
from support.forecasts import exact_auc

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
    """Area of class `code` by its own scores among the cases of the classes named."""
    chosen = np.isin(ACTUAL, [code, *against])
    return float(exact_auc((ACTUAL[chosen] == code).tolist(), SCORES[chosen, code].tolist()))


def test_the_area_of_each_class_is_taken_against_all_others() -> None:
    areas = ovr_auc(pairwise_wins(ACTUAL, SCORES))

    assert [value.value for value in areas] == [area(0, [1, 2]), area(1, [0, 2]), area(2, [0, 1])]


def test_averages_follow_their_definitions() -> None:
    values = auc_averages(pairwise_wins(ACTUAL, SCORES))

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

    wins = pairwise_wins(ACTUAL, table)

    assert {value.reason for value in auc_averages(wins).values()} == {
        Reason.CLASS_VALUE_UNDEFINED
    }
    assert ovr_auc(wins)[3].reason == Reason.NO_ACTUAL_POSITIVES
    assert ovr_auc(wins)[0].value == area(0, [1, 2])


def test_one_actual_class_leaves_nothing_to_compare_with() -> None:
    wins = pairwise_wins(np.zeros(3, dtype=np.uint8), SCORES[:3])

    assert ovr_auc(wins)[0].reason == Reason.NO_ACTUAL_NEGATIVES
    assert auc_averages(wins)["roc_auc_ovo_macro"].reason == Reason.CLASS_VALUE_UNDEFINED


def test_one_declared_class_has_no_area() -> None:
    wins = pairwise_wins(np.zeros(3, dtype=np.uint8), np.ones((3, 1)))

    assert {value.reason for value in auc_averages(wins).values()} == {Reason.TOO_FEW_CLASSES}


def test_complementary_columns_give_both_classes_one_area() -> None:
    generator = np.random.default_rng(0)
    p = generator.integers(0, 9, 40) / 8
    actual = generator.integers(0, 2, 40).astype(np.uint8)

    values = auc_averages(pairwise_wins(actual, np.stack([1 - p, p], axis=1)))

    expected = float(exact_auc(actual.tolist(), p.tolist()))
    assert {value.value for value in values.values()} == {expected}
