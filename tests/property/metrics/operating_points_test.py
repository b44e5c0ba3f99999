"""Laws of operating points and of what is kept of them, on scores with many ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.metrics.scores.operating_points import (
    MOST_HULL_CORNERS,
    OperatingPoints,
    of_other_class,
    operating_points,
    reduced,
)
from offdiag.metrics.scores.ranking import rank_scores


@st.composite
def exact_points(draw: st.DrawFn) -> OperatingPoints:
    """Points of up to 400 cases of both kinds, with few or with many different scores."""
    seed = draw(st.integers(0, 2**32 - 1))
    n_samples = draw(st.integers(2, 400))
    levels = draw(st.sampled_from([2, 10, 100, 10_000]))
    gain = draw(st.sampled_from([-1.0, 0.0, 0.3, 3.0]))
    generator = np.random.default_rng(seed)
    is_positive = generator.random(n_samples) < draw(st.sampled_from([0.05, 0.5, 0.95]))
    is_positive[:2] = [True, False]
    scores = np.floor((generator.random(n_samples) + gain * is_positive) * levels) / levels
    return operating_points(rank_scores(is_positive, scores.astype(np.float32)))


@given(exact_points(), st.sampled_from([4, 16, 64]))
def test_no_point_of_the_roc_curve_is_further_than_a_pixel_from_one_that_was_kept(
    points: OperatingPoints, cells: int
) -> None:
    few = reduced(points, cells=cells)

    far = np.maximum(
        np.abs(points.false_positive_rate[:, np.newaxis] - few.false_positive_rate),
        np.abs(points.recall[:, np.newaxis] - few.recall),
    )
    assert (far.min(axis=-1) <= 1 / cells + 1e-12).all()


@given(exact_points(), st.sampled_from([4, 16, 64]))
def test_every_column_of_the_precision_recall_curve_keeps_its_ends_and_extremes(
    points: OperatingPoints, cells: int
) -> None:
    few = reduced(points, cells=cells)

    assert _columns(few, cells) == _columns(points, cells)


@given(exact_points(), st.sampled_from([4, 16]))
def test_what_is_kept_are_points_of_the_exact_curve_in_order_and_few(
    points: OperatingPoints, cells: int
) -> None:
    few = reduced(points, cells=cells)

    exact = set(_triples(points))
    assert set(_triples(few)) <= exact
    assert (np.diff(few.reported) > 0).all()
    assert (few.reported[0], few.reported[-1]) == (0, points.n_positive + points.n_negative)
    assert len(few) <= 8 * cells + 4 + MOST_HULL_CORNERS


@given(exact_points())
def test_the_two_classes_share_every_case_at_every_threshold(points: OperatingPoints) -> None:
    other = of_other_class(points)

    together = points.reported + other.reported[::-1]
    assert (together == points.n_positive + points.n_negative).all()
    assert other.recall[::-1] + points.false_positive_rate == pytest.approx(1)


def _columns(points: OperatingPoints, cells: int) -> dict[int, tuple[float, ...]]:
    """First, last, lowest and highest precision of each column of pixels."""
    column = np.minimum(points.recall[1:] * cells, cells - 1).astype(int)
    precision = points.precision()[1:]
    return {
        int(at): (
            float(precision[column == at][0]),
            float(precision[column == at][-1]),
            float(precision[column == at].min()),
            float(precision[column == at].max()),
        )
        for at in np.unique(column)
    }


def _triples(points: OperatingPoints) -> list[tuple[float, int, int]]:
    return list(
        zip(
            points.thresholds.tolist(),
            points.true_positives.tolist(),
            points.false_positives.tolist(),
            strict=True,
        )
    )
