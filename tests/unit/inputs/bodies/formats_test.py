"""Arrow streams of strangers: what is sound is read, the rest is refused and the reader lives."""

from __future__ import annotations

import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput, Malformed, TooLarge
from offdiag.inputs.bodies import columns
from offdiag.inputs.bodies.columns import ChunkColumns, columns_of
from offdiag.inputs.bodies.formats import read_arrow_body, read_parquet_body
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunk_stream import write_chunk
from support.logging_runs import batch_of

LABELS = LabelSet.declared(["a", "b", "c"])


def read(found: ChunkColumns) -> Batch:
    return batch_of(
        LABELS,
        y_pred=found.y_pred,
        y_true=found.y_true,
        y_score=found.y_score,
        ids=found.sample_ids,
        slices=found.slices,
    )


def stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


@pytest.fixture(scope="module")
def body() -> bytes:
    """A chunk with every kind of column."""
    rng = np.random.default_rng(3)
    batch = batch_of(
        LABELS,
        y_pred=rng.choice(["a", "b", "c"], 40),
        y_true=rng.choice(["a", "b", "c"], 40),
        y_score=rng.random((40, 3)),
        ids=[f"case {number}" for number in range(40)],
        slices={"country": rng.choice(["DE", "SI"], 40)},
    )
    return bytes(write_chunk(batch, LABELS))


def test_a_chunk_is_read_as_it_was_written(body: bytes) -> None:
    found = columns_of(read_arrow_body(body), LABELS)

    assert bytes(write_chunk(read(found), LABELS)) == body


@pytest.mark.parametrize("sets", [[["a"], [], ["c", "b"]], [[], [], []]])
def test_sets_of_labels_travel_too(sets: list[list[str]]) -> None:
    batch = batch_of(LABELS, y_pred=sets, y_true=sets)

    found = columns_of(read_arrow_body(bytes(write_chunk(batch, LABELS))), LABELS)

    assert read(found).digest(LABELS) == batch.digest(LABELS)


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_compressed_streams_are_read(compression: str) -> None:
    table = pa.table({"y_pred": ["a", "b"] * 500, "y_true": ["a", "a"] * 500})

    found = read_arrow_body(stream(table, compression))

    assert found["y_pred"].to_pylist() == ["a", "b"] * 500


def test_a_stream_cut_anywhere_is_refused(body: bytes) -> None:
    for end in range(0, len(body) - 8, 64):
        with pytest.raises(InvalidInput):
            columns_of(read_arrow_body(body[:end]), LABELS)


def test_a_stream_damaged_anywhere_brings_nobody_down(body: bytes) -> None:
    refused = 0
    for place in range(0, len(body), 16):
        damaged = bytearray(body)
        damaged[place] ^= 0xFF
        try:
            read(columns_of(read_arrow_body(bytes(damaged)), LABELS))
        except InvalidInput:
            refused += 1
    assert refused > 0


def test_few_bytes_that_become_many_are_refused_before_that() -> None:
    zeros = pa.table({"y_pred": pa.array(np.zeros(columns.MOST_ROWS, np.int64))})
    wide = pa.table({f"slices.{number}": zeros["y_pred"] for number in range(40)})
    body = stream(wide.append_column("y_pred", zeros["y_pred"]), "zstd")
    assert len(body) < 1 << 20

    with pytest.raises(TooLarge, match="bytes when unpacked"):
        read_arrow_body(body)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"y_pred": pa.nulls(columns.MOST_ROWS + 1, pa.int8())}), "1,048,577 rows"),
        (pa.table({f"slices.{number}": [1] for number in range(1_001)}), "1,001 columns"),
    ],
)
def test_rows_and_columns_are_counted_first(table: pa.Table, message: str) -> None:
    with pytest.raises(TooLarge, match=message):
        read_arrow_body(stream(table))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y_true": ["a"]}, "'y_pred' is missing"),
        ({"y_pred": ["a"], "y_predicted": ["a"]}, "no column 'y_predicted'"),
    ],
)
def test_columns_that_mean_nothing_are_refused(
    columns: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_arrow_body(stream(pa.table(columns)))


def test_scores_by_class_follow_the_labels() -> None:
    table = pa.table({"y_pred": ["a"], "y_score.c": [0.1], "y_score.a": [0.7], "y_score.b": [0.2]})

    found = columns_of(read_arrow_body(stream(table)), LABELS)

    assert np.asarray(found.y_score).tolist() == [[0.7, 0.2, 0.1]]


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"\x80\x04K\x01.", b"\xff" * 64])
def test_what_is_no_stream_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed, match="not a valid Arrow stream"):
        read_arrow_body(body)


class _Canary(pa.ExtensionType):  # type: ignore[misc]  # pyarrow has no types
    def __init__(self) -> None:
        super().__init__(pa.string(), "offdiag.canary")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _kind: pa.DataType, _data: bytes) -> _Canary:
        return cls()


def test_an_extension_type_is_its_storage() -> None:
    column = pa.ExtensionArray.from_storage(_Canary(), pa.array(["a", "b"]))

    found = read_arrow_body(stream(pa.table({"y_pred": column})))

    assert found["y_pred"].to_pylist() == ["a", "b"]


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
    with pytest.raises(Malformed, match="not a valid Parquet file"):
        read_parquet_body(body)


def test_other_columns_are_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="no column 'label'"):
        read_parquet_body(parquet(pa.table({"y_pred": ["a"], "label": ["a"]})))
