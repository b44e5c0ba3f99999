"""Operating points, bins and histograms as bytes, and back, exactly.

Everything is little-endian and begins with how many entries follow. Thresholds take 4 bytes
where that loses nothing, which is always so for stored scores, counts as many as the largest
needs: a thousand classes have half a million points.

Decoding raises `ValueError` for bytes that encoding cannot have written.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.scores.calibration import CalibrationBins
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreHistogram

_POINTS = struct.Struct("<IBBxx")  # number, bytes of a threshold, bytes of a count
_BINS = struct.Struct("<I")
_COUNT_TYPES = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}


def encode_points(points: OperatingPoints) -> bytes:
    """Thresholds, then true, then false positives."""
    single = points.thresholds.astype("<f4")
    is_exact = np.array_equal(single.astype(np.float64), points.thresholds)
    thresholds = single if is_exact else points.thresholds.astype("<f8")
    largest = max(points.n_positive, points.n_negative)
    width = next(width for width in _COUNT_TYPES if largest < 1 << 8 * width)
    counts = (points.true_positives, points.false_positives)
    return b"".join(
        [
            _POINTS.pack(len(points), thresholds.itemsize, width),
            thresholds.tobytes(),
            *(column.astype(_COUNT_TYPES[width]).tobytes() for column in counts),
        ]
    )


def decode_points(
    data: bytes, *, n_positive: int, n_negative: int, n_thresholds: int
) -> OperatingPoints:
    """The points again; the totals stand in columns beside the blob."""
    n, threshold_width, count_width = _header(_POINTS, data)
    if threshold_width not in (4, 8) or count_width not in _COUNT_TYPES:
        raise ValueError(f"thresholds of {threshold_width}, counts of {count_width} bytes.")
    thresholds, hits, false_alarms = _columns(
        data[_POINTS.size :],
        n,
        (f"<f{threshold_width}", _COUNT_TYPES[count_width], _COUNT_TYPES[count_width]),
    )
    return OperatingPoints(
        thresholds.astype(np.float64),
        hits.astype(np.int64),
        false_alarms.astype(np.int64),
        n_positive,
        n_negative,
        n_thresholds,
    )


def encode_bins(bins: CalibrationBins) -> bytes:
    """Edges, then counts, events and sums of scores."""
    return _BINS.pack(len(bins.count)) + b"".join(
        [
            bins.edges.astype("<f8").tobytes(),
            bins.count.astype("<i8").tobytes(),
            bins.happened.astype("<i8").tobytes(),
            bins.score_sum.astype("<f8").tobytes(),
        ]
    )


def decode_bins(data: bytes) -> CalibrationBins:
    """The bins again."""
    (n,) = _header(_BINS, data)
    edges, rest = _split(data[_BINS.size :], (n + 1) * 8)
    count, happened, score_sum = _columns(rest, n, ("<i8", "<i8", "<f8"))
    return CalibrationBins(np.frombuffer(edges, "<f8"), count, happened, score_sum)


def encode_histogram(histogram: ScoreHistogram) -> bytes:
    """Edges, then counts of positive and negative cases."""
    return _BINS.pack(len(histogram.positive)) + b"".join(
        [
            histogram.edges.astype("<f8").tobytes(),
            histogram.positive.astype("<i8").tobytes(),
            histogram.negative.astype("<i8").tobytes(),
        ]
    )


def decode_histogram(data: bytes) -> ScoreHistogram:
    """The histogram again."""
    (n,) = _header(_BINS, data)
    edges, rest = _split(data[_BINS.size :], (n + 1) * 8)
    positive, negative = _columns(rest, n, ("<i8", "<i8"))
    return ScoreHistogram(np.frombuffer(edges, "<f8"), positive, negative)


def _header(layout: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) < layout.size:
        raise ValueError(f"{len(data)} bytes are too few to say how many entries follow.")
    return layout.unpack_from(data)


def _split(data: bytes, at: int) -> tuple[bytes, bytes]:
    if len(data) < at:
        raise ValueError(f"{len(data)} bytes are fewer than the {at} announced.")
    return data[:at], data[at:]


def _columns(data: bytes, n: int, types: Sequence[str]) -> list[NDArray[Any]]:
    """Columns of n entries that follow on one another and are all that is left."""
    found = []
    for name in types:
        column, data = _split(data, n * np.dtype(name).itemsize)
        found.append(np.frombuffer(column, name))
    if data:
        raise ValueError(f"{len(data)} bytes follow the last column.")
    return found
