"""Sets of labels as packed bits, the form in which they are stored.

A row of bytes holds the set of one case: label k is bit k % 8, from the lowest up, of byte
k // 8. The bit behind the last label says that nobody knows the set yet; then no other bit is
there. Rows have no more bytes than they need, so that equal content has equal bytes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.patterns import CASE_AXIS, LABEL_AXIS

Bits = NDArray[np.uint8]
"""Packed sets of n cases, shape (n, bytes)."""

_BITS: Literal["little"] = "little"


def n_bytes(n_labels: int) -> int:
    """Bytes of a row that holds so many labels, or so many with one bit more."""
    return -(-n_labels // 8)


def pack_sets(sets: NDArray[np.bool_]) -> Bits:
    """Pack an (n, q) indicator array."""
    return np.packbits(sets, axis=LABEL_AXIS, bitorder=_BITS)


def unpack_sets(bits: Bits, n_labels: int) -> NDArray[np.bool_]:
    """The (n, n_labels) indicator array again; sets that nobody knows are empty."""
    return np.unpackbits(bits, axis=LABEL_AXIS, count=n_labels, bitorder=_BITS).view(np.bool_)


def nothing_known(n_cases: int, n_labels: int) -> Bits:
    """Packed sets of which nobody knows any."""
    bits = np.zeros((n_cases, n_bytes(n_labels + 1)), dtype=np.uint8)
    bits[:, n_labels // 8] = 1 << (n_labels % 8)
    return bits


def is_known(bits: Bits, n_labels: int) -> NDArray[np.bool_]:
    """Which of the n sets somebody knows, shape (n,)."""
    if bits.shape[LABEL_AXIS] <= n_labels // 8:
        return np.ones(len(bits), dtype=np.bool_)
    return ~holds_label(bits, n_labels)


def with_room(bits: Bits, n_labels: int) -> Bits:
    """The same sets in rows that also have the bit for an unknown set."""
    missing = n_bytes(n_labels + 1) - bits.shape[LABEL_AXIS]
    return np.pad(bits, ((0, 0), (0, missing))) if missing > 0 else bits


def without_room(bits: Bits, n_labels: int) -> Bits:
    """The same sets in rows of the bytes they need."""
    if not is_known(bits, n_labels).all():
        return with_room(bits, n_labels)
    return np.ascontiguousarray(bits[:, : n_bytes(n_labels)])


def label_counts(bits: Bits, n_labels: int) -> NDArray[np.int64]:
    """How many of the sets hold each label, shape (n_labels,)."""
    counts = [
        np.count_nonzero(bits[:, code // 8] & np.uint8(1 << (code % 8)), axis=CASE_AXIS)
        for code in range(n_labels)
    ]
    return np.array(counts, dtype=np.int64)


def holds_label(bits: Bits, code: int) -> NDArray[np.bool_]:
    """Which of the n sets hold the label with this code, shape (n,)."""
    return np.asarray(bits[:, code // 8] & np.uint8(1 << (code % 8)), np.bool_)
