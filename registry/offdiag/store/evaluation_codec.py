"""Encoding the values of an evaluation as bytes, and decoding them exactly.

All per-class values of an evaluation are in one blob; operating points, bins and histograms have
one blob each.

A thousand classes have forty thousand values. As rows they would take more space than the
predictions; packed they cost 30 bytes each and are read at once, which is how pages need them.

Everything is little-endian and begins with the number of entries. Thresholds take 4 bytes if that
loses nothing, which is always so for stored scores; counts take as many bytes as the largest
needs: a thousand classes have half a million points.

Decoding raises `DamagedData` for bytes that encoding cannot have written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue
from offdiag.metrics.scores.calibration import CalibrationBins
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreHistogram
from offdiag.store.codec import damaged

_FIELDS = ("value", "ci_low", "ci_high")
_TO_INFINITY = 1


@dataclass(frozen=True, slots=True)
class ClassValues:
    """Packed values: `keys` gives their order, `reasons` the meaning of the codes in `data`.

    `reasons` lists reasons of undefined values and methods of intervals; code 0 means none. `data`
    holds three float64 (value, low, high) for each key and class, then for each the uint16 codes
    of reason, limit and method, little-endian.
    """

    keys: Sequence[str]
    reasons: Sequence[str]
    n_classes: int
    data: bytes


def pack(per_class: Mapping[str, Sequence[MetricValue]], n_classes: int) -> ClassValues:
    """Pack K values per key."""
    keys = list(per_class)
    words: dict[str, int] = {}
    numbers = np.full((len(keys), n_classes, len(_FIELDS)), np.nan, dtype="<f8")
    codes = np.zeros((len(keys), n_classes, 3), dtype="<u2")
    for row, key in enumerate(keys):
        for column, cell in enumerate(per_class[key]):
            if cell.ci_method is not None:
                # None becomes NaN.
                numbers[row, column] = [getattr(cell, name) for name in _FIELDS]
                codes[row, column, 2] = _code(words, cell.ci_method)
            elif cell.value is not None:
                numbers[row, column, 0] = cell.value
            if cell.reason is not None:
                codes[row, column, 0] = _code(words, cell.reason)
            codes[row, column, 1] = _TO_INFINITY if cell.limit == POSITIVE_INFINITY else 0
    return ClassValues(keys, list(words), n_classes, numbers.tobytes() + codes.tobytes())


@dataclass(frozen=True, eq=False)
class ClassNumbers:
    """Unpacked arrays, first axis key, second axis class.

    `numbers` (n_keys, n_classes, 3) are value, low and high, NaN where there is none; `codes`
    (n_keys, n_classes, 3) are those of reason, limit and method in `words`, whose first is None.
    """

    numbers: NDArray[np.float64]
    codes: NDArray[np.uint16]
    words: tuple[str | None, ...]


class UnpackedValues(Mapping[str, tuple[MetricValue, ...]]):
    """The K values of each key, unpacked when they are first read.

    A page shows a few of thirty keys, and an image none.
    """

    def __init__(self, packed: ClassValues) -> None:
        self._rows = {key: row for row, key in enumerate(packed.keys)}
        self._found = unpack_arrays(packed)
        self._unpacked: dict[str, tuple[MetricValue, ...]] = {}

    def __getitem__(self, key: str) -> tuple[MetricValue, ...]:
        if key not in self._unpacked:
            row = self._rows[key]
            cells = zip(
                self._found.numbers[row].tolist(), self._found.codes[row].tolist(), strict=True
            )
            self._unpacked[key] = tuple(_value(*cell, self._found.words) for cell in cells)
        return self._unpacked[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def unpack_arrays(packed: ClassValues) -> ClassNumbers:
    """The packed values as arrays, views of the blob. Raises `DamagedData` if they do not fit."""
    cells = len(packed.keys) * packed.n_classes
    split = cells * len(_FIELDS) * 8
    if len(packed.data) != split + cells * 3 * 2:
        raise damaged(f"{len(packed.data)} bytes cannot hold {cells} values.")
    shape = (len(packed.keys), packed.n_classes)
    numbers = np.frombuffer(packed.data[:split], "<f8").reshape(*shape, len(_FIELDS))
    codes = np.frombuffer(packed.data[split:], "<u2").reshape(*shape, 3)
    words = (None, *packed.reasons)
    most = np.array([len(words) - 1, _TO_INFINITY, len(words) - 1])
    if (codes > most).any():
        raise damaged("the values of a class name a reason that is not in their list.")
    if np.isinf(numbers).any() or (np.isnan(numbers[..., 0]) != (codes[..., 0] > 0)).any():
        raise damaged("a value of a class is neither a number nor undefined.")
    return ClassNumbers(numbers, codes, words)


def _value(
    numbers: Sequence[float], codes: Sequence[int], words: Sequence[str | None]
) -> MetricValue:
    value, low, high = (None if isnan(number) else number for number in numbers)
    limit = POSITIVE_INFINITY if codes[1] else None
    return MetricValue(value, words[codes[0]], limit, low, high, words[codes[2]])


def _code(words: dict[str, int], word: str) -> int:
    return words.setdefault(word, len(words) + 1)


_POINTS = struct.Struct("<IBBxx")  # number, bytes per threshold, bytes per count
_BINS = struct.Struct("<I")
_OF_BINS = ("<f8", "<i8", "<i8", "<f8")
_OF_HISTOGRAM = ("<f8", "<i8", "<i8")
_COUNT_TYPES = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}


def encode_points(points: OperatingPoints) -> bytes:
    """Encode thresholds, then true positives, then false positives."""
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
    """Decode `encode_points`; the totals are in columns next to the blob."""
    n, threshold_width, count_width = _header(_POINTS, data)
    if threshold_width not in (4, 8) or count_width not in _COUNT_TYPES:
        raise damaged(f"thresholds of {threshold_width}, counts of {count_width} bytes.")
    thresholds, hits, false_alarms = _columns(
        data[_POINTS.size :],
        n,
        (f"<f{threshold_width}", _COUNT_TYPES[count_width], _COUNT_TYPES[count_width]),
    )
    columns = (hits.astype(np.int64), false_alarms.astype(np.int64))
    if not (np.diff(thresholds) < 0).all() or n_thresholds < n:
        raise damaged("thresholds must descend.")
    for column, total in zip(columns, (n_positive, n_negative), strict=True):
        if n and (column[0] != 0 or column[-1] != total or (np.diff(column) < 0).any()):
            raise damaged(f"counts by threshold must rise from 0 to {total}.")
    return OperatingPoints(
        thresholds.astype(np.float64),
        *columns,
        n_positive,
        n_negative,
        n_thresholds,
    )


def encode_bins(bins: CalibrationBins) -> bytes:
    """Encode edges, then counts, events and sums of scores."""
    columns = (bins.edges, bins.count, bins.happened, bins.score_sum)
    return _in_bins(len(bins.count), columns, _OF_BINS)


def decode_bins(data: bytes) -> CalibrationBins:
    bins = CalibrationBins(*_from_bins(data, _OF_BINS))
    if (bins.happened < 0).any() or (bins.happened > bins.count).any():
        raise damaged("more samples of a bin are events than it has.")
    if not (bins.score_sum >= 0).all() or not np.isfinite(bins.score_sum).all():
        raise damaged("the sum of the scores of a bin is not one of probabilities.")
    return bins


def encode_histogram(histogram: ScoreHistogram) -> bytes:
    """Encode edges, then counts of positive and negative samples."""
    columns = (histogram.edges, histogram.positive, histogram.negative)
    return _in_bins(len(histogram.positive), columns, _OF_HISTOGRAM)


def decode_histogram(data: bytes, *, n_positive: int, n_negative: int) -> ScoreHistogram:
    """Decode `encode_histogram`; the totals are in columns next to the blob."""
    histogram = ScoreHistogram(*_from_bins(data, _OF_HISTOGRAM))
    for counts, total in ((histogram.positive, n_positive), (histogram.negative, n_negative)):
        if (counts < 0).any() or counts.sum() != total:
            raise damaged(f"the counts of a histogram do not sum to {total}.")
    return histogram


def _in_bins(n: int, columns: Iterable[NDArray[Any]], types: Sequence[str]) -> bytes:
    stored = (column.astype(name) for column, name in zip(columns, types, strict=True))
    return _BINS.pack(n) + b"".join(column.tobytes() for column in stored)


def _from_bins(data: bytes, types: Sequence[str]) -> list[NDArray[Any]]:
    """The n + 1 edges of the bins, and columns of n entries."""
    (n,) = _header(_BINS, data)
    start, rest = _split(data[_BINS.size :], (n + 1) * 8)
    edges = np.frombuffer(start, types[0])
    if not (np.diff(edges) >= 0).all():
        raise damaged("the edges of bins must not descend.")
    return [edges, *_columns(rest, n, types[1:])]


def _header(layout: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) < layout.size:
        raise damaged(f"{len(data)} bytes are too few to say how many entries follow.")
    return layout.unpack_from(data)


def _split(data: bytes, at: int) -> tuple[bytes, bytes]:
    if len(data) < at:
        raise damaged(f"{len(data)} bytes are fewer than the {at} announced.")
    return data[:at], data[at:]


def _columns(data: bytes, n: int, types: Sequence[str]) -> list[NDArray[Any]]:
    """Consecutive columns of n entries that use up all remaining bytes."""
    found = []
    for name in types:
        column, data = _split(data, n * np.dtype(name).itemsize)
        found.append(np.frombuffer(column, name))
    if data:
        raise damaged(f"{len(data)} bytes follow the last column.")
    return found
