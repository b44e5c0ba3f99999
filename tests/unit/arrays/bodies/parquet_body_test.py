"""Parquet files of strangers are read by a process that may come to an end."""

from __future__ import annotations

import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offdiag.arrays.bodies.parquet_body import read_parquet_body
from offdiag.errors import InvalidInput, Malformed, TooLarge

pytestmark = pytest.mark.processes


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_columns_keep_their_types() -> None:
    found = read_parquet_body(parquet(pa.table({"y_pred": ["NA", "007"], "y_true": ["7", "7"]})))

    assert found["y_pred"].to_pylist() == ["NA", "007"]
    assert found["y_true"].to_pylist() == ["7", "7"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"y_pred": pa.array(np.zeros(20_000_000, np.int8))}), "20,000,000 rows"),
        (pa.table({f"column {number}": [1] for number in range(3_000)}), "3,000 columns"),
    ],
    ids=["one label many times", "many columns"],
)
def test_what_a_file_says_of_itself_is_believed_first(table: pa.Table, message: str) -> None:
    with pytest.raises(TooLarge, match=message):
        read_parquet_body(parquet(table))


def test_a_file_that_lies_about_its_pages_ends_its_reader_at_most() -> None:
    body = bytearray(parquet(pa.table({"y_pred": ["a", "b"] * 200})))
    # The first page header follows the magic; in its varints lies what it will unpack to.
    body[5:10] = b"\xff\xff\xff\xff\x0f"

    with pytest.raises(InvalidInput):
        read_parquet_body(bytes(body))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"PAR1" + struct.pack("<I", 1 << 30) + b"PAR1",
        b"PAR1" + b"\x00" * 40 + struct.pack("<I", 40) + b"PAR1",
        b"\x80\x04K\x01.",
    ],
)
def test_what_is_no_file_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed, match="no sound Parquet file"):
        read_parquet_body(body)


def test_other_columns_are_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="no column 'label'"):
        read_parquet_body(parquet(pa.table({"y_pred": ["a"], "label": ["a"]})))
