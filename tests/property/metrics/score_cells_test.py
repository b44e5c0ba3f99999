"""What is counted in cells differs from what the scores give by no more than its bound."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.score_cells import cell_values
from offdiag.metrics.scores.calibration import (
    equal_mass_bins,
    equal_mass_places,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.discrimination import average_precision, ks, roc_auc
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.operating_points import operating_points
from offdiag.metrics.scores.ranked_cells import RankedCells
from offdiag.metrics.scores.ranking import RankedScores, rank_scores
from offdiag.metrics.scores.score_cells import cell_codes, count_scores
from offdiag.metrics.scores.score_curves import cell_curves
from offdiag.services.evaluation.compute import of_scores

_ROUNDING = 1e-9
_EIGHTHS = st.sampled_from([k / 16 for k in range(17)])
_NEAR = st.floats(0.5, 0.50390625, width=32)
_ANY = st.floats(0, 1, width=32)
SAMPLES = st.lists(st.tuples(st.booleans(), st.one_of(_EIGHTHS, _NEAR, _ANY)), min_size=2)


def arrays(samples: list[tuple[bool, float]]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    return (
        np.array([happened for happened, _ in samples]),
        np.array([p for _, p in samples], dtype=np.float32),
    )


def in_cells(ranked: RankedScores, borders: list[int]) -> RankedCells:
    """Cells between some places of sorted scores, moved to where no tie is parted."""
    places = sorted({0, ranked.n_samples, *(ranked.end_of_ties(place) for place in borders)})
    parts = [slice(low, high) for low, high in pairwise(places)]
    scores, happened = ranked.ascending.astype(np.float64), ranked.is_positive
    return RankedCells(
        np.array([scores[part].min() for part in parts]),
        np.array([scores[part].max() for part in parts]),
        np.array([happened[part].sum() for part in parts]),
        np.array([(~happened[part]).sum() for part in parts]),
        np.array([scores[part].sum() for part in parts]),
        np.array([np.abs(scores[part] - happened[part]).sum() for part in parts]),
    )


@given(SAMPLES, st.data())
def test_cells_of_any_width_keep_their_bounds(
    samples: list[tuple[bool, float]], data: st.DataObject
) -> None:
    ranked = rank_scores(*arrays(samples))
    borders = data.draw(st.lists(st.integers(0, ranked.n_samples), max_size=6))
    cells = in_cells(ranked, borders)

    if ranked.n_positive:
        require_near(average_precision(cells), average_precision(ranked), cells.precision_error)
    if ranked.n_positive and ranked.n_negative:
        require_near(roc_auc(cells), roc_auc(ranked), cells.area_error)
        require_near(ks(cells), ks(ranked), cells.gap_error)
    by_width, exact = equal_width_bins(cells), equal_width_bins(ranked)
    cut = cells.cut_by_scores(by_width.edges[1:-1])
    for error, bound in (
        (expected_calibration_error, cells.expected_error(cut)),
        (maximum_calibration_error, cells.largest_error(cut, by_width.count)),
    ):
        assert abs(error(by_width) - error(exact)) <= bound + _ROUNDING
    places = np.array(equal_mass_places(ranked.n_samples))
    by_mass = expected_calibration_error(equal_mass_bins(cells))
    bound = cells.expected_error(cells.cut_by_places(places))
    assert abs(by_mass - expected_calibration_error(equal_mass_bins(ranked))) <= bound + _ROUNDING


def require_near(found: MetricValue, exact: MetricValue, bound: float) -> None:
    assert abs(float(found) - float(exact)) <= bound + _ROUNDING, (found, exact, bound)


@given(SAMPLES, st.sampled_from([0, 1]))
def test_every_value_of_counted_scores_keeps_its_bound(
    samples: list[tuple[bool, float]], positive: int
) -> None:
    happened, p = arrays(samples)
    half = len(p) // 2
    cells = count_scores([(happened[:half], p[:half]), (happened[half:], p[half:])])
    assert cells is not None
    actual = np.where(happened, positive, 1 - positive)

    found = cell_values(cells, positive=positive)
    exact = of_scores(Forecasts(actual, p[:, np.newaxis], 2, positive))

    assert found.aggregate.keys() == exact.aggregate.keys()
    for key, value in exact.aggregate.items():
        near = found.aggregate[key]
        if near.reason != "forecasts_in_cells":
            assert (near.reason, near.limit) == (value.reason, value.limit), key
            if value.value is not None:
                require_near(near, value, near.error_bound or 0)
    for key, values in exact.per_class.items():
        for near, value in zip(found.per_class[key], values, strict=True):
            assert near.reason == value.reason
            if value.value is not None:
                require_near(near, value, near.error_bound or 0)


@given(SAMPLES)
def test_points_of_counted_scores_are_points_of_the_scores(
    samples: list[tuple[bool, float]],
) -> None:
    happened, p = arrays(samples)
    cells = count_scores([(happened, p)])
    assert cells is not None
    n_hits = int((happened & (p >= 0.5)).sum())
    counts = np.array([[0, int((~happened & (p >= 0.5)).sum())], [0, n_hits]])

    (curve,) = cell_curves(cells, counts, positive=1)

    exact = operating_points(rank_scores(happened, p))
    known = set(zip(exact.thresholds, exact.true_positives, exact.false_positives, strict=True))
    points = curve.points
    kept = zip(points.thresholds, points.true_positives, points.false_positives, strict=True)
    assert set(kept) <= known
    place = points.at(0.5)
    assert points.true_positives[place] == n_hits
    assert points.false_positives[place] == counts[0, 1]


@pytest.mark.parametrize("denominator", [15, 20])
def test_borders_of_bins_and_tidy_thresholds_are_borders_of_cells(denominator: int) -> None:
    edges = (np.arange(1, denominator) / denominator).astype(np.float32)

    below, at = cell_codes(np.nextafter(edges, np.float32(0))), cell_codes(edges)

    assert (below < at).all()


@given(st.lists(_ANY, min_size=2))
def test_cells_are_in_the_order_of_scores(scores: list[float]) -> None:
    codes = cell_codes(np.sort(np.array(scores, dtype=np.float32)))

    assert (np.diff(codes) >= 0).all()
