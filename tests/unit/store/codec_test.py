"""Arrays and ids as bytes: exact there and back, and clear about bytes that are not theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from offdiag.metrics.counted import are_equal
from offdiag.metrics.multilabel.tally import tally_numbers, tally_sets
from offdiag.store import codec
from offdiag.store.codec import decode_ids, decode_sample_counts, encode_sample_counts
from support.set_runs import random_sets

code_arrays = st.sampled_from(["u1", "u2", "u4"]).flatmap(
    lambda dtype: hnp.arrays(dtype, st.integers(0, 200))
)
score_arrays = st.tuples(st.integers(0, 20), st.integers(1, 5)).flatmap(
    lambda shape: hnp.arrays(np.float32, shape, elements=st.floats(width=32))
)
int_ids = hnp.arrays(np.int64, st.integers(0, 200))
text_ids = st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=50)


def decode_text_ids(data: bytes) -> list[Any]:
    """Text ids as plain values."""
    return decode_ids(data, "text").to_list()


@st.composite
def count_matrices(draw: st.DrawFn) -> NDArray[np.int64]:
    """Square counts, from empty to full, up to the largest number."""
    n_classes = draw(st.integers(1, 30))
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    cells = st.integers(0, n_classes**2 - 1)
    for cell in draw(st.lists(cells, max_size=n_classes**2)):
        counts.flat[cell] = draw(st.sampled_from([1, 7, 255, 70_000, 2**53 + 1, 2**63 - 1]))
    return counts


@given(codes=code_arrays)
def test_codes_come_back(codes: NDArray[np.unsignedinteger[Any]]) -> None:
    data = codec.encode_codes(codes)

    found = codec.decode_codes(data, codes.dtype.str)

    assert len(data) == codes.nbytes
    assert found.dtype.itemsize == codes.dtype.itemsize
    np.testing.assert_array_equal(found, codes)


def test_codes_are_little_endian_on_every_machine() -> None:
    data = codec.encode_codes(np.array([1, 258], dtype=">u2"))

    assert data == b"\x01\x00\x02\x01"
    assert codec.decode_codes(data, "u2").tolist() == [1, 258]


def test_decoding_codes_copies_nothing() -> None:
    data = codec.encode_codes(np.arange(100, dtype=np.uint16))

    found = codec.decode_codes(data, "u2")

    assert np.shares_memory(found, np.frombuffer(data, dtype=np.uint8))
    assert not found.flags.writeable


@pytest.mark.parametrize("dtype", ["i1", "f4", "u8", "", "U1", "object"])
def test_a_type_that_is_not_of_codes_is_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match="not a type of codes"):
        codec.decode_codes(b"\x00" * 8, dtype)


def test_codes_that_are_signed_are_refused() -> None:
    with pytest.raises(ValueError, match="unsigned"):
        codec.encode_codes(np.array([-1]))


def test_codes_cut_within_a_number_are_refused() -> None:
    with pytest.raises(ValueError, match="3 bytes are not a whole number of uint16"):
        codec.decode_codes(b"\x00\x01\x02", "u2")


@given(scores=score_arrays)
def test_scores_come_back_bit_by_bit(scores: NDArray[np.float32]) -> None:
    found = codec.decode_scores(codec.encode_scores(scores), scores.shape[1])

    assert found.shape == scores.shape
    assert found.dtype == np.float32
    assert found.tobytes() == scores.tobytes()


def test_scores_of_another_shape_or_width_are_refused() -> None:
    data = codec.encode_scores(np.ones((2, 3), dtype=np.float32))

    with pytest.raises(ValueError, match="6 scores do not fit into 4 columns"):
        codec.decode_scores(data, 4)
    with pytest.raises(ValueError, match="into 0 columns"):
        codec.decode_scores(data, 0)
    with pytest.raises(ValueError, match="float64"):
        codec.encode_scores(np.ones((2, 3)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of 1"):
        codec.encode_scores(np.ones(3, dtype=np.float32))


@given(counts=count_matrices())
def test_counts_come_back_exactly_and_writable(counts: NDArray[np.int64]) -> None:
    found = codec.decode_counts(codec.encode_counts(counts), len(counts))

    np.testing.assert_array_equal(found, counts)
    assert found.dtype == np.int64
    assert found.flags.writeable


@given(counts=count_matrices())
def test_counts_never_take_more_than_all_cells_and_a_header(counts: NDArray[np.int64]) -> None:
    assert len(codec.encode_counts(counts)) <= counts.nbytes + 8


def test_a_nearly_empty_matrix_takes_twelve_bytes_a_cell() -> None:
    counts = np.zeros((1000, 1000), dtype=np.int64)
    counts[3, 4] = counts[999, 999] = 5

    assert len(codec.encode_counts(counts)) == 8 + 2 * 12


@pytest.mark.parametrize("counts", [np.zeros((2, 3)), np.zeros(4), np.zeros((2, 2, 2))])
def test_counts_that_are_no_square_are_refused(counts: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="not a square"):
        codec.encode_counts(counts.astype(np.int64))


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        codec.encode_counts(np.array([[-1]], dtype=np.int64))


def test_counts_of_another_number_of_classes_are_refused() -> None:
    dense = codec.encode_counts(np.ones((3, 3), dtype=np.int64))
    sparse = np.zeros((20, 20), dtype=np.int64)
    sparse[19, 19] = 1

    with pytest.raises(ValueError, match="do not make 4 classes"):
        codec.decode_counts(dense, 4)
    with pytest.raises(ValueError, match="does not exist with 19 classes"):
        codec.decode_counts(codec.encode_counts(sparse), 19)


@given(ids=int_ids)
def test_integer_ids_come_back(ids: NDArray[np.int64]) -> None:
    found = codec.decode_int_ids(codec.encode_int_ids(ids))

    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, ids)


@given(values=text_ids)
def test_text_ids_come_back(values: list[str]) -> None:
    assert decode_text_ids(codec.encode_text_ids(values)) == values


def test_text_that_has_no_utf8_form_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        codec.encode_text_ids(["\ud800"])


def test_ids_of_one_kind_are_not_read_as_the_other() -> None:
    with pytest.raises(ValueError, match="layout"):
        decode_text_ids(codec.encode_int_ids(np.array([1])))
    with pytest.raises(ValueError, match="layout"):
        codec.decode_int_ids(codec.encode_text_ids(["1"]))


def test_ids_that_are_no_integers_are_refused() -> None:
    with pytest.raises(ValueError, match="float64"):
        codec.encode_int_ids(np.array([1.0]))


Decode = Callable[[bytes], object]

BLOBS: list[tuple[str, bytes, Decode]] = [
    (
        "dense counts",
        codec.encode_counts(np.arange(9, dtype=np.int64).reshape(3, 3)),
        lambda data: codec.decode_counts(data, 3),
    ),
    (
        "sparse counts",
        codec.encode_counts(np.diag(np.arange(1, 13, dtype=np.int64))),
        lambda data: codec.decode_counts(data, 12),
    ),
    ("integer ids", codec.encode_int_ids(np.array([5, -7, 2**62])), codec.decode_int_ids),
    ("text ids", codec.encode_text_ids(["a", "", "ключ", "z"]), decode_text_ids),
]
BY_NAME = [pytest.param(data, decode, id=name) for name, data, decode in BLOBS]


@pytest.mark.parametrize(("data", "decode"), BY_NAME)
def test_a_blob_cut_anywhere_is_refused(data: bytes, decode: Decode) -> None:
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"."):
            decode(data[:length])


@pytest.mark.parametrize(("data", "decode"), BY_NAME)
def test_a_blob_with_something_after_it_is_refused(data: bytes, decode: Decode) -> None:
    for rest in (b"\x00", data, b"\x00" * 12):
        with pytest.raises(ValueError, match=r"."):
            decode(data + rest)


@pytest.mark.parametrize(("data", "decode"), BY_NAME)
def test_an_unknown_version_or_layout_is_refused(data: bytes, decode: Decode) -> None:
    for place, value in ((0, 0), (0, 2), (0, 255), (1, 0), (1, 99)):
        changed = bytearray(data)
        changed[place] = value
        with pytest.raises(ValueError, match="not known here"):
            decode(bytes(changed))


@given(data=st.binary(max_size=64))
def test_any_bytes_are_decoded_or_refused_and_nothing_else(data: bytes) -> None:
    for decode in (
        lambda blob: codec.decode_counts(blob, 2),
        codec.decode_int_ids,
        decode_text_ids,
        lambda blob: codec.decode_scores(blob, 3),
        lambda blob: codec.decode_codes(blob, "u4"),
    ):
        try:
            decode(data)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("counts", "cells"), [([1, 1], [5, 5]), ([1, 1], [5, 4]), ([0, 1], [4, 5]), ([-1, 1], [4, 5])]
)
def test_occupied_cells_out_of_order_or_without_a_count_are_refused(
    counts: list[int], cells: list[int]
) -> None:
    header = codec.encode_counts(np.diag(np.array([1, 1] + [0] * 10)))[:8]
    body = np.array(counts, "<i8").tobytes() + np.array(cells, "<u4").tobytes()

    with pytest.raises(ValueError, match="must hold a count and stand in order"):
        codec.decode_counts(header + body, 12)


def test_an_id_that_ends_before_it_starts_is_refused() -> None:
    header = codec.encode_text_ids(["a", "b", "c"])[:8]
    ends = np.array([2, 1, 3], "<u4").tobytes()

    with pytest.raises(ValueError, match="ends before it starts"):
        decode_text_ids(header + ends + b"abc")


def test_the_digest_covers_all_buffers_in_order() -> None:
    found = codec.sha256_hex(b"abc", memoryview(b"def"))

    assert found == hashlib.sha256(b"abcdef").hexdigest()
    assert found != codec.sha256_hex(b"def", b"abc")


TALLY = tally_sets(*random_sets(50, 4))


def test_a_tally_comes_back_as_it_was() -> None:
    assert are_equal(decode_sample_counts(encode_sample_counts(TALLY), 4), TALLY)


def test_a_matrix_of_classes_keeps_its_own_form() -> None:
    counts = np.arange(9).reshape(3, 3)

    found = decode_sample_counts(encode_sample_counts(counts), 3)

    assert are_equal(found, counts)
    assert not are_equal(found, TALLY)


def test_small_numbers_take_a_byte_each() -> None:
    assert len(encode_sample_counts(TALLY)) == 8 + len(tally_numbers(TALLY))


@pytest.mark.parametrize("cut", [1, 9, 40])
def test_torn_bytes_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"number|header"):
        decode_sample_counts(encode_sample_counts(TALLY)[:-cut], 4)


def test_counts_of_other_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="tally"):
        decode_sample_counts(encode_sample_counts(TALLY), 5)
