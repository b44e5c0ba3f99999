"""Counting (actual, predicted) pairs into a confusion matrix.

This is the only loop over predictions, so it is optimised for memory bandwidth: codes stay as
narrow as they are stored, work proceeds in chunks that fit the second-level cache, and the
number of classes selects the kernel. All kernels return the same exact counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput

CHUNK = 262_144
"""Pairs counted at a time; 64 Ki to 512 Ki are equally fast, larger ones miss the cache."""
CHUNK_OF_INDICES = 65_536
"""Chunk size where pairs become eight-byte indices: one pair per index, or two at once."""
MOST_IN_CELL = np.iinfo(np.int32).max
"""Pairs that are counted in four-byte cells before these are added to the result."""
FEWEST_PAIRS_TO_READ_DOUBLED = 65_536
"""Below this the table for two pairs at once costs more than it saves."""

Codes = NDArray[np.unsignedinteger[Any]]
Chunks = Iterator[tuple[Codes, Codes]]


def count_pairs(actual: Codes, predicted: Codes, *, n_classes: int) -> NDArray[np.int64]:
    """The (n_classes, n_classes) matrix of pairs, actual class along the first axis.

    `actual` and `predicted` are one-dimensional arrays of class codes 0 .. n_classes - 1 of
    equal length and of any unsigned integer type (the narrowest is the fastest). Memory
    beyond the result is bounded by the chunk, whatever the length.

    Raises `InvalidInput` for unequal lengths, other types and codes out of range.

    >>> count_pairs(np.array([0, 1, 1], np.uint8), np.array([0, 0, 1], np.uint8), n_classes=2)
    array([[1, 0],
           [1, 1]])
    """
    _require_codes(actual, field="actual")
    _require_codes(predicted, field="predicted")
    if actual.shape != predicted.shape:
        raise InvalidInput(
            f"{len(predicted)} predictions were given for {len(actual)} actual classes.",
            field="predicted",
            hint="Give one prediction for each sample.",
        )
    if n_classes == 2:
        cells = _count_binary(_chunks(actual, predicted, n_classes, CHUNK))
    elif n_classes <= 16 and len(actual) >= FEWEST_PAIRS_TO_READ_DOUBLED:
        cells = _count_two_pairs_at_once(
            _chunks(actual, predicted, n_classes, 2 * CHUNK_OF_INDICES), n_classes
        )
    else:
        cells = _count_pair_by_pair(
            _chunks(actual, predicted, n_classes, CHUNK_OF_INDICES), n_classes
        )
    return cells.reshape(n_classes, n_classes)


def count_labelled_pairs(actual: Codes, predicted: Codes, *, n_classes: int) -> NDArray[np.int64]:
    """As `count_pairs`, leaving out the samples whose actual class is not known.

    Those have the code `n_classes` in `actual`. They are counted as an extra class that is then
    dropped, which takes a tenth of the time of selecting the others first.

    >>> count_labelled_pairs(np.array([0, 2], np.uint8), np.array([1, 1], np.uint8), n_classes=2)
    array([[0, 1],
           [0, 0]])
    """
    if not len(actual) or actual.max() < n_classes:
        return count_pairs(actual, predicted, n_classes=n_classes)
    counts = count_pairs(actual, predicted, n_classes=n_classes + 1)
    _require_range(predicted, n_classes, field="predicted")
    return np.ascontiguousarray(counts[:n_classes, :n_classes])


@dataclass(frozen=True, eq=False)
class OccupiedCells:
    """The occupied cells of a matrix with so many classes that most cells are empty.

    `cells` int64 (m,) are actual * n_classes + predicted, ascending; `counts` int64 (m,) are at
    least 1.
    """

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_classes: int


SPARSE_FROM = 16
"""Cells per pair from which only the occupied ones are counted."""


def count_occupied(actual: Codes, predicted: Codes, *, n_classes: int) -> OccupiedCells:
    """As `count_labelled_pairs`, but without a full table: memory grows with the pairs only.

    >>> count_occupied(np.array([0, 2, 0], np.uint8), np.array([1, 1, 1], np.uint8), n_classes=2)
    OccupiedCells(cells=array([1]), counts=array([2]), n_classes=2)
    """
    _require_codes(actual, field="actual")
    _require_codes(predicted, field="predicted")
    if len(actual):
        _require_range(actual, n_classes + 1, field="actual")
        _require_range(predicted, n_classes, field="predicted")
    is_known = actual < n_classes
    pairs = actual[is_known].astype(np.int64) * n_classes + predicted[is_known]
    cells, counts = np.unique(pairs, return_counts=True)
    return OccupiedCells(cells, counts.astype(np.int64), n_classes)


def _chunks(actual: Codes, predicted: Codes, n_classes: int, size: int) -> Chunks:
    """Equally long pieces of both arrays, their codes checked to be below `n_classes`."""
    for start in range(0, len(actual), size):
        piece = slice(start, start + size)
        _require_range(actual[piece], n_classes, field="actual")
        _require_range(predicted[piece], n_classes, field="predicted")
        yield actual[piece], predicted[piece]


def _count_binary(chunks: Chunks) -> NDArray[np.int64]:
    """Three population counts per chunk; the fourth cell follows from the length."""
    n_pairs = n_actual = n_predicted = n_both = 0
    for actual, predicted in chunks:
        is_actual = actual.astype(np.uint8, copy=False).view(np.bool_)
        is_predicted = predicted.astype(np.uint8, copy=False).view(np.bool_)
        n_pairs += len(actual)
        n_actual += int(np.count_nonzero(is_actual))
        n_predicted += int(np.count_nonzero(is_predicted))
        n_both += int(np.count_nonzero(is_actual & is_predicted))
    n_neither = n_pairs - n_actual - n_predicted + n_both
    return np.array([n_neither, n_predicted - n_both, n_actual - n_both, n_both], np.int64)


def _count_two_pairs_at_once(chunks: Chunks, n_classes: int) -> NDArray[np.int64]:
    """Read two neighbouring one-byte pair codes as one two-byte code: half the increments.

    The joint table of neighbours is summed over the first and over the second code. Which
    of the two bytes comes first in memory does not matter, because both sums are added.
    """
    n_cells = n_classes * n_classes
    cells = np.zeros(n_cells, np.int64)

    def neighbours() -> Iterator[Codes]:
        for actual, predicted in chunks:
            codes = _pair_codes(actual, predicted, n_classes, np.uint8)
            if len(codes) % 2:
                cells[codes[-1]] += 1
                codes = codes[:-1]
            yield codes.view(np.uint16)

    table = _increments(neighbours(), n_cells * 256).reshape(n_cells, 256)[:, :n_cells]
    return np.asarray(cells + np.einsum("xy->x", table) + np.einsum("xy->y", table), np.int64)


def _count_pair_by_pair(chunks: Chunks, n_classes: int) -> NDArray[np.int64]:
    wide = _type_of_pair_codes(n_classes)
    codes = (_pair_codes(actual, predicted, n_classes, wide) for actual, predicted in chunks)
    return _increments(codes, n_classes * n_classes)


def _increments(chunks: Iterator[NDArray[np.integer[Any]]], n_cells: int) -> NDArray[np.int64]:
    """How often each cell occurs, in one table for all chunks of at most `CHUNK_OF_INDICES`.

    Most of the time goes into reaching table cells that are not in the cache, so cells have four
    bytes. The table is allocated only once, since a new one would have to be filled with zeros
    page by page for every chunk.
    """
    table = np.zeros(n_cells, np.int32)
    cells = np.zeros(n_cells, np.int64)
    indices = np.empty(CHUNK_OF_INDICES, np.intp)
    one = np.int32(1)
    n_in_table = 0
    for codes in chunks:
        if n_in_table + len(codes) > MOST_IN_CELL:
            cells += table
            table[:] = n_in_table = 0
        n_in_table += len(codes)
        places = indices[: len(codes)]
        places[:] = codes
        np.add.at(table, places, one)
    cells += table
    return cells


def _type_of_pair_codes(n_classes: int) -> type[np.integer[Any]]:
    if n_classes <= 1 << 8:
        return np.uint16
    return np.uint32 if n_classes <= 1 << 16 else np.intp


def _pair_codes(
    actual: Codes, predicted: Codes, n_classes: int, wide: type[np.integer[Any]]
) -> NDArray[np.integer[Any]]:
    """actual * n_classes + predicted, in a type that holds n_classes squared."""
    codes: NDArray[np.integer[Any]] = actual.astype(wide)
    codes *= wide(n_classes)
    codes += predicted.astype(wide, copy=False)
    return codes


def _require_codes(codes: NDArray[Any], *, field: str) -> None:
    if codes.ndim != 1 or codes.dtype.kind != "u":
        raise InvalidInput(
            f"an array of shape {codes.shape} and type {codes.dtype} holds no class codes.",
            field=field,
            hint="Give a one-dimensional array of unsigned integers.",
        )


def _require_range(codes: Codes, n_classes: int, *, field: str) -> None:
    if codes.max() >= n_classes:
        raise InvalidInput(
            f"class code {codes.max()} is out of range.",
            field=field,
            hint=f"Codes run from 0 to {n_classes - 1}.",
        )
