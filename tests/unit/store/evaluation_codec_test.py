"""Packed per-class values come back exactly as they went in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason
from offdiag.errors import DamagedData
from offdiag.metrics.scores.calibration import CalibrationBins, equal_width_bins
from offdiag.metrics.scores.operating_points import OperatingPoints, operating_points
from offdiag.metrics.scores.score_curves import ScoreHistogram, score_histogram
from offdiag.store.evaluation_codec import (
    UnpackedValues,
    decode_bins,
    decode_histogram,
    decode_points,
    encode_bins,
    encode_histogram,
    encode_points,
    pack,
)
from support.forecasts import ranked

numbers = st.floats(allow_nan=False, allow_infinity=False)
methods = st.sampled_from(["wilson", "delta", "wilson; unreliable, class has n = 5"])
defined = st.builds(MetricValue, value=numbers)
with_interval = st.builds(
    MetricValue,
    value=numbers,
    ci_low=st.none() | numbers,
    ci_high=st.none() | numbers,
    ci_method=methods,
)
undefined = st.builds(
    MetricValue,
    value=st.none(),
    reason=st.sampled_from([reason.value for reason in Reason]),
    limit=st.none() | st.just(POSITIVE_INFINITY),
)
cells = st.one_of(defined, with_interval, undefined)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=4))
def test_values_reasons_limits_and_intervals_round_trip(
    rows: list[tuple[MetricValue, ...]],
) -> None:
    per_class = {f"key_{index}": row for index, row in enumerate(rows)}

    assert UnpackedValues(pack(per_class, 3)) == per_class


def test_more_than_255_different_notes_are_kept_apart() -> None:
    row = tuple(
        MetricValue(0.5, ci_low=0.0, ci_high=1.0, ci_method=f"class has n = {n}")
        for n in range(400)
    )

    assert UnpackedValues(pack({"recall": row}, 400)) == {"recall": row}


def test_a_blob_of_another_size_is_refused() -> None:
    packed = pack({"recall": (MetricValue(1.0),)}, 1)

    with pytest.raises(DamagedData, match="bytes cannot hold 1 values"):
        UnpackedValues(replace(packed, data=packed.data[:-1]))


SCORES = ranked([0, 1, 0, 1, 1], [0.125, 0.5, 0.5, 0.75, 1.0])


def _points(thresholds: list[float], n_positive: int = 2) -> OperatingPoints:
    hits, alarms = np.array([0, 1, n_positive]), np.array([0, 0, 1])
    return OperatingPoints(np.array(thresholds, np.float64), hits, alarms, n_positive, 1, 9)


def _decoded(data: bytes, like: OperatingPoints) -> OperatingPoints:
    return decode_points(
        data,
        n_positive=like.n_positive,
        n_negative=like.n_negative,
        n_thresholds=like.n_thresholds,
    )


def _histogram(data: bytes) -> ScoreHistogram:
    return decode_histogram(data, n_positive=3, n_negative=2)


def test_bins_and_histograms_come_back_as_they_were() -> None:
    bins, histogram = equal_width_bins(SCORES), score_histogram(SCORES, low=0.0, high=1.0)

    assert _same(bins, decode_bins(encode_bins(bins)))
    assert _same(histogram, _histogram(encode_histogram(histogram)))


@pytest.mark.parametrize(
    ("thresholds", "width"),
    [([np.inf, 0.5, 0.25], 4), ([np.nextafter(np.float32(1), 2), 1.0, 0.1], 8)],
)
def test_thresholds_take_four_bytes_where_that_loses_nothing(
    thresholds: list[float], width: int
) -> None:
    points = _points(thresholds, n_positive=2)

    data = encode_points(points)

    assert data[4] == width
    assert _decoded(data, points).thresholds.tolist() == points.thresholds.tolist()


@pytest.mark.parametrize(("n_positive", "width"), [(255, 1), (256, 2), (70_000, 4), (2**33, 8)])
def test_counts_take_as_many_bytes_as_the_largest_needs(n_positive: int, width: int) -> None:
    points = _points([1.0, 0.5, 0.0], n_positive=n_positive)

    data = encode_points(points)
    again = _decoded(data, points)

    assert data[5] == width
    assert again.true_positives.tolist() == [0, 1, n_positive]
    assert again.true_positives.dtype == np.int64


def test_no_points_are_points_too() -> None:
    nothing = operating_points(ranked([], []))

    assert len(_decoded(encode_points(nothing), nothing)) == 0


@pytest.mark.parametrize(
    ("decode", "data"),
    [
        (
            lambda data: _decoded(data, _points([1.0, 0.5, 0.0])),
            encode_points(_points([1, 0.5, 0])),
        ),
        (decode_bins, encode_bins(equal_width_bins(SCORES))),
        (_histogram, encode_histogram(score_histogram(SCORES, low=0.0, high=1.0))),
    ],
    ids=["points", "bins", "histogram"],
)
def test_damaged_bytes_are_refused(decode: Callable[[bytes], Any], data: bytes) -> None:
    decode(data)
    for broken in (b"", data[:3], data[:-1], data + b"x", b"\xff" * len(data)):
        with pytest.raises(DamagedData, match="byte"):
            decode(broken)


def _same(one: CalibrationBins | ScoreHistogram, other: CalibrationBins | ScoreHistogram) -> bool:
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)
    )
