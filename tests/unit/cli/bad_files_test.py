"""Files that cannot be meant: one sentence, exit code 2, no run, whatever reads them."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offdiag.domain.texts import marked_as_text
from offdiag.inputs.files import checks
from offdiag.inputs.files.matrix import read_matrix

Command = Callable[..., Any]
DATASET = ("--name", "n", "--dataset", "d")


class Canary:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def npy(header: str, data: bytes = b"") -> bytes:
    text = f"{header:<117}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def saved(array: object) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.asarray(array), allow_pickle=True)
    return sink.getvalue()


def zipped(*names: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, bytes(50_000_000))
    return sink.getvalue()


def parquet(columns: Mapping[str, object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def arrow(columns: Mapping[str, object], compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table(columns)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


LOG = ("log", "FILE", *DATASET)
SKLEARN = ("import", "sklearn", "FILE", *DATASET, "--labels", "a,b")
REFUSED: list[tuple[str, tuple[str, ...], str, bytes, str]] = [
    # Tables of predictions.
    ("no header", LOG, "x.csv", b"a,b\nb,a\n", "has no column"),
    ("other actual classes", LOG, "x.csv", b"y,y_pred\nb,a\n", "name the right one with --true"),
    ("other predictions", LOG, "x.jsonl", b'{"y_true":"a","y":"b"}', "right one with --pred"),
    ("no such scores", (*LOG, "--score", "p"), "x.csv", b"y_true,y_pred\nb,a\n", "with --score"),
    (
        "thousands or decimals",
        (*LOG, "--weight", "w"),
        "x.csv",
        b"y_true;y_pred;w\na;a;850\nb;a;1.250\n",
        "value 1.250 of column 'w' may be 1.25 or 1250",
    ),
    ("NUL in a class", LOG, "x.csv", b"y_true,y_pred\na,a\0b\n", "NUL"),
    ("deep", LOG, "x.jsonl", b"[" * 200_000, "line 1"),
    ("half a pair", LOG, "x.jsonl", rb'{"y_true":"\ud800","y_pred":"a"}', "surrogate"),
    ("5,000 digits", LOG, "x.jsonl", b'{"y_true":%s,"y_pred":1}' % (b"9" * 5_000), "line 1"),
    ("a fraction", LOG, "x.jsonl", b'{"y_true":1.5,"y_pred":1}', "such as 1.5"),
    ("a pickle", LOG, "x.pkl", pickle.dumps(["a"]), "suffix"),
    ("gzip", LOG, "x.csv.gz", gzip.compress(b"y_true,y_pred\na,a\n"), "suffix"),
    # Matrices of other tools.
    ("total 0", SKLEARN, "x.json", b"[[0,0],[0,0]]", "zero"),
    ("1e400", SKLEARN, "x.json", b"[[1e400,0],[0,0]]", "[0][0]"),
    ("2^63", SKLEARN, "x.json", b"[[9223372036854775808,0],[0,1]]", "add up"),
    ("more than there is", SKLEARN, "x.npy",
     npy("{'descr':'<i8','fortran_order':False,'shape':(1000000,1000000)}"), "not a valid npy"),
    ("a header that never ends", SKLEARN, "x.npy", npy("{'descr':'''"), "not a valid npy"),
    ("a program for a header", SKLEARN, "x.npy", npy("__import__('os').getpid()"), "npy"),
    ("texts", SKLEARN, "x.npy", saved([["a", "b"], ["c", "d"]]), "numbers"),
    ("100,000 classes", SKLEARN, "x.npy", saved(np.zeros((1, 100_000), np.int8)), "10,000"),
    ("a zip of arrays", SKLEARN, "x.npy", zipped("x.npy"), "not a valid npy"),
    ("a corner behind an empty line", ("import", "csv", "FILE", *DATASET), "x.csv",
     b"\nx,a,b\na,1,2\nb,3,4\n", "does not say"),
    ("a count of 5,000 digits", ("import", "caret", "FILE", *DATASET), "x.txt",
     b"  Reference\nPrediction a\n a " + b"9" * 5_000, "fewer counts"),
    ("a table of 100,000 blanks", ("import", "caret", "FILE", *DATASET), "x.txt",
     b"  Reference\nPrediction a\n a" + b" " * 100_000 + b"x", "fewer counts"),
    ("archive of something else", ("import", "archive", "FILE"), "x.zip",
     zipped("../../outside"), "no manifest"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name", "content", "says"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_file_that_cannot_be_meant_is_refused_in_a_sentence(
    offdiag: Command, folder: Path, command: tuple[str, ...], name: str, content: bytes, says: str
) -> None:
    (folder / name).write_bytes(content)

    answer = offdiag(*(name if word == "FILE" else word for word in command))

    assert answer.code == 2, answer.err
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert len(answer.err) < 1_000
    assert "defect" not in answer.err
    assert offdiag("runs", "list", "--json").json["runs"] == []


@pytest.mark.parametrize("name", ["x.npy", "x.pkl", "x.joblib", "x.obj", "x.parquet"])
def test_nothing_in_a_file_is_ever_run(offdiag: Command, folder: Path, name: str) -> None:
    canary = folder / "canary"
    content = pickle.dumps(Canary(canary))
    array = np.empty(1, dtype=object)
    array[0] = Canary(canary)
    files = {"x.npy": saved(array), "x.parquet": pandas_metadata(content)}
    (folder / name).write_bytes(files.get(name, content))

    for command in (LOG, SKLEARN, ("import", "pycm", "FILE", *DATASET)):
        assert offdiag(*(name if word == "FILE" else word for word in command)).code == 2

    assert not canary.exists()


def pandas_metadata(content: bytes) -> bytes:
    """A Parquet file that brings a pickle where pandas keeps what it knows of a frame."""
    table = pa.table({"x": ["a"]}).replace_schema_metadata({b"pandas": content})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_what_a_file_promises_is_held_against_the_limits_first(
    offdiag: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of one class takes a few bytes as a file, and gigabytes once it is unpacked."""
    many = {"y_true": ["a"] * 300_000, "y_pred": ["a"] * 300_000}
    (folder / "x.parquet").write_bytes(parquet(many))
    (folder / "x.arrow").write_bytes(arrow(many, "zstd"))
    assert (folder / "x.parquet").stat().st_size < 10_000
    monkeypatch.setattr(checks, "MOST_ROWS", 200_000)
    monkeypatch.setattr(checks, "MOST_BYTES", 1_000_000)

    parquet_says, arrow_says = (offdiag("log", f"x.{kind}", *DATASET) for kind in
                                ("parquet", "arrow"))  # fmt: skip

    assert (parquet_says.code, arrow_says.code) == (2, 2)
    assert "300,000 rows" in parquet_says.err
    assert "bytes when unpacked" in arrow_says.err


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_damaged_table_ends_in_a_sentence_wherever_the_damage_is(
    offdiag: Command, folder: Path, kind: str
) -> None:
    columns = {"y_true": ["a", "b"] * 40, "y_pred": ["a", "a"] * 40}
    whole = arrow(columns) if kind == "arrow" else parquet(columns)

    for place in range(0, len(whole), 64):
        for spoilt in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :]):
            (folder / f"x.{kind}").write_bytes(spoilt)
            answer = offdiag("evaluate", f"x.{kind}")
            assert "defect" not in answer.err, (place, answer.err)
            assert answer.code in {0, 2}


@pytest.mark.parametrize(
    "text", ["=1+1", "'=1", "''=1", "-1", "@x", "\tx", "\nx", "＝1", "'x", "x"]
)
def test_a_class_that_looks_like_a_formula_comes_back_as_it_was(folder: Path, text: str) -> None:
    """The dashboard marks such names in its CSV; the mark is not part of the name."""
    quoted = f'"{marked_as_text(text)}"'
    (folder / "m.csv").write_text(f"actual (rows),{quoted},b\n{quoted},1,2\nb,3,4\n", "utf-8")

    found = read_matrix(folder / "m.csv")

    assert found.labels == [text, "b"]
