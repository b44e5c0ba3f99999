"""Counting pairs of codes: every kernel, every code type, every refusal."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics import pair_counts
from offdiag.metrics.counted import count_part
from offdiag.metrics.pair_counts import CHUNK, count_labelled_pairs, count_occupied, count_pairs
from offdiag.store.codec import encode_counts, encode_occupied, encode_sample_counts

# One number of classes for each kernel and both sides of every border between them.
CLASS_COUNTS = (1, 2, 3, 10, 16, 17, 256, 257)


def random_codes(n_classes: int, n_pairs: int, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(n_classes)
    actual = generator.integers(0, n_classes, n_pairs).astype(dtype)
    predicted = generator.integers(0, n_classes, n_pairs).astype(dtype)
    return actual, predicted


def counted_one_by_one(
    actual: NDArray[Any], predicted: NDArray[Any], n_classes: int
) -> NDArray[np.int64]:
    counts = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(counts, (actual.astype(np.intp), predicted.astype(np.intp)), 1)
    return counts


@pytest.mark.parametrize("n_classes", CLASS_COUNTS)
@pytest.mark.parametrize("n_pairs", [0, 1, 2, 101, 65_536, 65_537, 131_073, CHUNK + 3])
def test_every_kernel_counts_every_pair_once(n_classes: int, n_pairs: int) -> None:
    actual, predicted = random_codes(n_classes, n_pairs, np.uint16)

    counts = count_pairs(actual, predicted, n_classes=n_classes)

    assert np.array_equal(counts, counted_one_by_one(actual, predicted, n_classes))


@pytest.mark.parametrize("most", [pair_counts.CHUNK_OF_INDICES, 2 * pair_counts.CHUNK_OF_INDICES])
@pytest.mark.parametrize("n_classes", [10, 20])
def test_narrow_cells_are_added_up_before_they_overflow(
    monkeypatch: pytest.MonkeyPatch, n_classes: int, most: int
) -> None:
    monkeypatch.setattr(pair_counts, "MOST_IN_CELL", most)
    actual, predicted = random_codes(n_classes, 9 * pair_counts.CHUNK_OF_INDICES + 7, np.uint8)

    counts = count_pairs(actual, predicted, n_classes=n_classes)

    assert np.array_equal(counts, counted_one_by_one(actual, predicted, n_classes))


def test_narrow_cells_hold_what_is_counted_in_them() -> None:
    assert np.iinfo(np.int32).max >= pair_counts.MOST_IN_CELL >= pair_counts.CHUNK_OF_INDICES


@pytest.mark.parametrize("n_classes", [256, 257, 65_536, 65_537])
def test_codes_of_pairs_fit_their_type(n_classes: int) -> None:
    assert np.iinfo(pair_counts._type_of_pair_codes(n_classes)).max >= n_classes**2 - 1


@pytest.mark.parametrize("n_classes", [2, 10, 100])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, ">u2"])
def test_all_unsigned_types_give_the_same_counts(n_classes: int, dtype: Any) -> None:
    actual, predicted = random_codes(n_classes, 70_001, np.uint8)

    counts = count_pairs(actual.astype(dtype), predicted, n_classes=n_classes)

    assert np.array_equal(counts, count_pairs(actual, predicted, n_classes=n_classes))


def test_a_strided_view_is_counted_like_its_copy() -> None:
    actual, predicted = random_codes(10, 140_002, np.uint8)

    counts = count_pairs(actual[::2], predicted[::2], n_classes=10)

    copied = count_pairs(actual[::2].copy(), predicted[::2].copy(), n_classes=10)
    assert np.array_equal(counts, copied)


def test_read_only_codes_are_accepted_and_left_alone() -> None:
    actual, predicted = (np.frombuffer(bytes([0, 1, 2, 1] * 20_000), np.uint8) for _ in range(2))

    counts = count_pairs(actual, predicted, n_classes=3)

    assert np.diagonal(counts).tolist() == [20_000, 40_000, 20_000]
    assert actual[:4].tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("n_classes", [2, 10, 300])
@pytest.mark.parametrize("field", ["actual", "predicted"])
def test_a_code_out_of_range_is_refused_and_named(n_classes: int, field: str) -> None:
    codes = {"actual": np.zeros(5, np.uint16), "predicted": np.zeros(5, np.uint16)}
    codes[field][3] = n_classes

    with pytest.raises(InvalidInput, match=f"code {n_classes} is out of range") as refusal:
        count_pairs(codes["actual"], codes["predicted"], n_classes=n_classes)

    assert refusal.value.field == field


def test_a_code_out_of_range_far_into_the_data_is_found() -> None:
    actual = np.zeros(CHUNK * 2, np.uint8)
    predicted = np.zeros(CHUNK * 2, np.uint8)
    predicted[-1] = 7

    with pytest.raises(InvalidInput, match="code 7 is out of range"):
        count_pairs(actual, predicted, n_classes=7)


def test_memory_is_bounded_by_the_chunk_and_not_by_the_number_of_pairs() -> None:
    actual, predicted = (np.zeros(CHUNK * 16, np.uint8) for _ in range(2))

    tracemalloc.start()
    try:
        count_pairs(actual, predicted, n_classes=20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # One chunk as two-byte codes and as the eight-byte integers that are counted.
    assert peak < CHUNK * 12


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 predictions were given for 3 actual classes"):
        count_pairs(np.zeros(3, np.uint8), np.zeros(2, np.uint8), n_classes=2)


@pytest.mark.parametrize(
    "codes", [np.zeros(3, np.int64), np.zeros(3, np.float32), np.zeros((3, 1), np.uint8)]
)
def test_anything_but_a_row_of_unsigned_codes_is_refused(codes: NDArray[Any]) -> None:
    with pytest.raises(InvalidInput, match="holds no class codes"):
        count_pairs(codes, np.zeros(3, np.uint8), n_classes=2)


@given(
    st.integers(2, 40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 39)), max_size=60),
)
def test_occupied_cells_are_stored_as_the_matrix_would_be(
    n_classes: int, pairs: list[tuple[int, int]]
) -> None:
    actual = np.array([min(pair[0], n_classes) for pair in pairs], np.uint8)
    predicted = np.array([pair[1] % n_classes for pair in pairs], np.uint8)

    occupied = count_occupied(actual, predicted, n_classes=n_classes)

    matrix = count_labelled_pairs(actual, predicted, n_classes=n_classes)
    assert encode_occupied(occupied) == encode_counts(matrix)


def test_codes_out_of_range_are_refused_without_a_matrix() -> None:
    codes = np.array([0, 3], np.uint8)

    with pytest.raises(InvalidInput, match="class code 3 is out of range"):
        count_occupied(codes, codes, n_classes=3)
    with pytest.raises(InvalidInput, match="class code 3 is out of range"):
        count_occupied(codes, codes, n_classes=2)


def test_a_part_of_very_many_classes_takes_no_table_of_them() -> None:
    actual, predicted = random_codes(10_000, 10_000, np.uint16)

    tracemalloc.start()
    try:
        part = count_part(actual, predicted, n_classes=10_000)
        encode_sample_counts(part)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 2_000_000  # All cells would take 800 MB.
