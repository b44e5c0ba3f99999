"""Which curves are kept with results, and that they count every case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_curves import (
    TIDY_THRESHOLDS,
    TOP_LABEL,
    ScoreCurve,
    score_curves,
)
from support.forecasts import of_classes, of_event

NO_ANSWERS = np.zeros((3, 3), dtype=np.int64)


def test_with_a_positive_class_there_is_one_curve() -> None:
    (curve,) = score_curves(of_event([0, 1, 1], [0.2, 0.4, 0.9]), NO_ANSWERS[:2, :2])

    assert curve.code == 1
    assert (curve.points.n_positive, curve.points.n_negative) == (2, 1)
    assert curve.bins is not None
    assert curve.bins.count.sum() == 3
    assert curve.histogram.positive.sum() == 2
    assert curve.histogram.negative.sum() == 1


def test_without_one_each_class_has_a_curve_and_so_has_the_top_label() -> None:
    forecasts = of_classes([0, 1, 2], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3]])

    curves = score_curves(forecasts, NO_ANSWERS)

    assert [curve.code for curve in curves] == [TOP_LABEL, 0, 1, 2]
    top = curves[0]
    assert (top.points.n_positive, top.points.n_negative) == (2, 1)
    assert top.histogram.positive.sum() == 2
    assert len(top.points) == 0


def test_scores_that_are_no_probabilities_have_no_bins_and_no_top_label() -> None:
    curves = score_curves(of_classes([0, 1, 2], [[5, -3, 0], [1, 8, 1], [4, 3, 3]]), NO_ANSWERS)

    assert [curve.code for curve in curves] == [0, 1, 2]
    assert all(curve.bins is None for curve in curves)
    assert curves[1].histogram.edges[[0, -1]].tolist() == [-3.0, 8.0]
    assert curves[1].histogram.positive.tolist() == [*[0] * 19, 1]


def test_equal_scores_fall_into_one_bin() -> None:
    (curve,) = score_curves(of_event([0, 1], [7.0, 7.0]), NO_ANSWERS[:2, :2])

    assert curve.histogram.edges[[0, -1]].tolist() == [7.0, 8.0]
    assert (curve.histogram.positive[0], curve.histogram.negative[0]) == (1, 1)


def test_the_answers_that_were_given_are_among_the_points_if_a_threshold_gives_them() -> None:
    forecasts, actual, p = _many()
    answers = (p >= np.float32(0.3333)).astype(np.int64)

    (curve,) = score_curves(forecasts, _counted(actual, answers))

    place = curve.points.of_counts(
        int((answers[actual == 1] == 1).sum()), int((answers[actual == 0] == 1).sum())
    )
    assert place is not None
    assert curve.points.thresholds[place] == p[p >= np.float32(0.3333)].min()


def test_counts_at_tidy_probabilities_are_exact() -> None:
    forecasts, actual, p = _many()

    (curve,) = score_curves(forecasts, NO_ANSWERS[:2, :2])

    for threshold in TIDY_THRESHOLDS:
        reported = p >= np.float32(threshold)
        at = curve.points.at(float(np.float32(threshold)))
        assert curve.points.true_positives[at] == reported[actual == 1].sum()
        assert curve.points.false_positives[at] == reported[actual == 0].sum()


def test_the_best_f1_is_among_the_points() -> None:
    forecasts, actual, p = _many()

    (curve,) = score_curves(forecasts, NO_ANSWERS[:2, :2])

    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(actual[order])
    exact = (2 * hits / (np.arange(1, len(p) + 1) + actual.sum())).max()
    f1 = 2 * curve.points.true_positives / (curve.points.reported + curve.points.n_positive)
    assert f1.max() == pytest.approx(exact)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_no_cases_have_curves_without_points(n_columns: int) -> None:
    forecasts = Forecasts(
        np.zeros(0, np.uint8),
        np.zeros((0, n_columns), np.float32),
        n_classes=max(n_columns, 2),
        positive=1 if n_columns == 1 else None,
    )

    curves = score_curves(forecasts, NO_ANSWERS)

    assert len(curves) == (1 if n_columns == 1 else 4)
    assert all(len(curve.points) == 0 for curve in curves)


def test_the_same_forecasts_give_the_same_bits() -> None:
    one, other = (score_curves(_many()[0], NO_ANSWERS[:2, :2]) for _ in range(2))

    assert _bits(one[0]) == _bits(other[0])


def _bits(curve: ScoreCurve) -> list[bytes]:
    assert curve.bins is not None
    return [
        column.tobytes()
        for column in (
            *(curve.points.thresholds, curve.points.true_positives, curve.points.false_positives),
            *(curve.bins.count, curve.bins.happened, curve.bins.score_sum),
            *(curve.histogram.edges, curve.histogram.positive, curve.histogram.negative),
        )
    ]


def _many() -> tuple[Forecasts, NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(8)
    actual = (generator.random(5_000) < 0.3).astype(np.uint8)
    p = (0.7 * generator.random(5_000) + 0.3 * actual).astype(np.float32)
    return Forecasts(actual, p[:, np.newaxis], n_classes=2, positive=1), actual, p


def _counted(actual: NDArray[Any], answers: NDArray[Any]) -> NDArray[np.int64]:
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (actual.astype(np.int64), answers), 1)
    return counts
