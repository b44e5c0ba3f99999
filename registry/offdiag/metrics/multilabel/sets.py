"""Sets of labels: their packed storage format, and their distinct pairs.

A row of bytes holds the set of one sample: label k is bit k % 8, from the lowest up, of byte k //
8. The bit after the last label means that the set is not known yet; no other bit is then set.
Rows have no more bytes than they need, so that equal content has equal bytes.

With few labels a million samples have only a few thousand different pairs, and anything computed
from the two sets of a sample alone is computed once for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SAMPLE_AXIS = 0
"""Axis of an (n, q) indicator array along which the sample changes."""
LABEL_AXIS = -1
"""Axis of an (n, q) indicator array along which the label changes."""


@dataclass(frozen=True, eq=False)
class SetPatterns:
    """m distinct pairs of label sets over q labels.

    `actual` and `predicted` are bool (m, q), True where the label belongs to the set;
    `count` is int64 (m,), the number of samples with this pair.
    """

    actual: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    count: NDArray[np.int64]

    @property
    def n_labels(self) -> int:
        return int(self.actual.shape[LABEL_AXIS])

    @property
    def n_samples(self) -> int:
        return int(self.count.sum())

    def where(self, chosen: NDArray[np.bool_]) -> SetPatterns:
        """The patterns marked True in `chosen`, shape (m,)."""
        return SetPatterns(self.actual[chosen], self.predicted[chosen], self.count[chosen])


def distinct_patterns(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> SetPatterns:
    """Count the distinct rows of two (n, q) indicator arrays taken together."""
    n_labels = actual.shape[LABEL_AXIS]
    bits = np.packbits(np.concatenate([actual, predicted], axis=LABEL_AXIS), axis=LABEL_AXIS)
    keys, count = np.unique(_as_scalars(bits), return_counts=True)
    rows = keys.view(np.uint8).reshape(len(keys), keys.dtype.itemsize)
    sets = np.unpackbits(rows, axis=LABEL_AXIS, count=2 * n_labels).view(np.bool_)
    return SetPatterns(sets[:, :n_labels], sets[:, n_labels:], count.astype(np.int64))


def set_sizes(sets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of labels in each set of an (..., q) indicator array, shape (...)."""
    return np.asarray(np.count_nonzero(sets, axis=LABEL_AXIS), np.int64)


def has_labels(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the sets of an (m, q) indicator array are not empty, shape (m,)."""
    return np.asarray(sets.any(axis=LABEL_AXIS), np.bool_)


def _as_scalars(rows: NDArray[np.uint8]) -> NDArray[np.void] | NDArray[np.uint64]:
    """Each row of bytes as one scalar that sorts and compares as a whole."""
    n_words = -(-rows.shape[LABEL_AXIS] // 8)
    padded = np.zeros((len(rows), 8 * n_words), dtype=np.uint8)
    padded[:, : rows.shape[LABEL_AXIS]] = rows
    if n_words == 1:
        # One machine word sorts several times faster than a string of bytes.
        return padded.view(np.uint64).reshape(len(rows))
    return padded.view(np.dtype((np.void, 8 * n_words))).reshape(len(rows))


Bits = NDArray[np.uint8]
"""Packed sets of n samples, shape (n, bytes)."""

_BITS: Literal["little"] = "little"


def n_bytes(n_labels: int) -> int:
    """Bytes of a row that holds this many labels (or this many and one more bit)."""
    return -(-n_labels // 8)


def pack_sets(sets: NDArray[np.bool_]) -> Bits:
    """Pack an (n, q) indicator array."""
    return np.packbits(sets, axis=LABEL_AXIS, bitorder=_BITS)


def unpack_sets(bits: Bits, n_labels: int) -> NDArray[np.bool_]:
    """Unpack sets into an (n, n_labels) indicator array; unknown sets are empty."""
    return np.unpackbits(bits, axis=LABEL_AXIS, count=n_labels, bitorder=_BITS).view(np.bool_)


def nothing_known(n_samples: int, n_labels: int) -> Bits:
    """Packed sets that are all unknown."""
    bits = np.zeros((n_samples, n_bytes(n_labels + 1)), dtype=np.uint8)
    bits[:, n_labels // 8] = 1 << (n_labels % 8)
    return bits


def is_known(bits: Bits, n_labels: int) -> NDArray[np.bool_]:
    """Which of the n sets are known, shape (n,)."""
    if bits.shape[LABEL_AXIS] <= n_labels // 8:
        return np.ones(len(bits), dtype=np.bool_)
    return ~holds_label(bits, n_labels)


def with_room(bits: Bits, n_labels: int) -> Bits:
    """The same sets in rows that also have the bit for an unknown set."""
    missing = n_bytes(n_labels + 1) - bits.shape[LABEL_AXIS]
    return np.pad(bits, ((0, 0), (0, missing))) if missing > 0 else bits


def without_room(bits: Bits, n_labels: int) -> Bits:
    """The same sets in rows with only the bytes they need."""
    if not is_known(bits, n_labels).all():
        return with_room(bits, n_labels)
    return np.ascontiguousarray(bits[:, : n_bytes(n_labels)])


def are_of_one_label(bits: Bits) -> bool:
    """Whether each of the n sets, all known, holds exactly one label."""
    # Only a power of two shares no bit with the number below it.
    is_power = (bits & (bits - 1)) == 0
    one_byte = np.count_nonzero(bits, axis=LABEL_AXIS) == 1
    return bool(one_byte.all() and is_power.all())


def label_counts(bits: Bits, n_labels: int) -> NDArray[np.int64]:
    """How many of the sets hold each label, shape (n_labels,)."""
    counts = [
        np.count_nonzero(bits[:, code // 8] & np.uint8(1 << (code % 8)), axis=SAMPLE_AXIS)
        for code in range(n_labels)
    ]
    return np.array(counts, dtype=np.int64)


def holds_label(bits: Bits, code: int) -> NDArray[np.bool_]:
    """Which of the n sets hold the label with this code, shape (n,)."""
    return np.asarray(bits[:, code // 8] & np.uint8(1 << (code % 8)), np.bool_)
