"""Labels survive every kind of table file; damaged files are refused with the place at fault."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import FileColumn
from offdiag.inputs.files.tables import read_columns

TRAPS = ["NA", "None", "null", "nan", "", "true", "0", "007", "7", "1", "1.0", "1e3", "1000"]
STRANGE = ["ä", "多", "a b", " a", "a,b", 'say "no"', "two\nlines", "\u202e", "=1+1", "<b>"]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def quoted(values: Sequence[str]) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


def as_list(column: FileColumn) -> list[object]:
    values: list[object] = column.to_pylist() if isinstance(column, pa.Array) else column
    return values


@pytest.mark.parametrize("quoting", [False, True], ids=["bare", "quoted"])
def test_csv_labels_that_other_readers_convert_stay_as_they_are_written(
    tmp_path: Path, quoting: bool
) -> None:
    rows = [quoted([trap, "x"]) if quoting else f"{trap},x" for trap in TRAPS]
    path = write(tmp_path / "p.csv", "\n".join(["y,yhat", *rows]).encode())

    # Without quotes an empty cell is a missing value, unless the caller knows such a class.
    columns = read_columns(path, ["y", "yhat"], empty_text=[] if quoting else ["y"])

    assert as_list(columns["y"]) == TRAPS


def test_a_class_that_is_called_like_its_column_is_no_header(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", b"y,yhat\ny,y\nyhat,yhat\ny,yhat2\n")

    assert as_list(read_columns(path, ["y", "yhat"])["y"]) == ["y", "yhat", "y"]
    assert as_list(read_columns(path, ["yhat"])["yhat"]) == ["y", "yhat", "yhat2"]


def test_csv_labels_with_separators_quotes_and_line_breaks_survive(tmp_path: Path) -> None:
    rows = [quoted([label, "x"]) for label in STRANGE]
    path = write(tmp_path / "p.csv", "\n".join(["y,yhat", *rows]).encode())

    assert as_list(read_columns(path, ["y"])["y"]) == STRANGE


@pytest.mark.parametrize(
    "content",
    [
        b"y,yhat\na,b\nc,d\n",
        b"\xef\xbb\xbfy,yhat\r\na,b\r\nc,d\r\n",
        b"y,yhat\ra,b\rc,d\r",
        b"y;yhat\na;b\nc;d\n",
        b"y\tyhat\na\tb\nc\td\n",
        b'"y","yhat"\n"a","b"\n\nc,d',
        b"yhat,other,y\nb,1,a\nd,2,c\n",
    ],
)
def test_csv_is_read_whatever_its_line_ends_separator_and_column_order(
    tmp_path: Path, content: bytes
) -> None:
    columns = read_columns(write(tmp_path / "p.csv", content), ["y", "yhat"])

    assert {name: as_list(column) for name, column in columns.items()} == {
        "y": ["a", "c"],
        "yhat": ["b", "d"],
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"y,yhat\na,b\nc,d,e\n", "line 3 of p.csv has 3 fields, the header has 2"),
        (b"y,yhat\na,b\nc\n", "line 3 of p.csv has 1 fields, the header has 2"),
        (b'y,yhat\n"a\nb",c\nd\n', "line 4 of p.csv has 1 fields"),
        (b"y,yhat\na,b\ncaf\xe9,d\n", "byte 14 of p.csv is not UTF-8"),
        (b"y\xe9,yhat\na,b\n", "byte 1 of p.csv is not UTF-8"),
        (b"y,yhat\nMJ\xe4R,b\n", "it looks like Latin-1"),
        (b"\x89\0\x1f\xff\0", "it looks like a binary file"),
        ("y,yhat\na,b\n".encode("utf-16"), "it looks like UTF-16"),
        (gzip.compress(b"y,yhat\na,b\n", mtime=0), "it looks like gzip"),
        (b"PK\x03\x04\x14\0\0\0\x08\xff", "it looks like a zip archive or a spreadsheet"),
        (b"y,yhat\na,b\ny,yhat\nc,d\n", "line 3 of p.csv repeats the header"),
        (
            b"\xef\xbb\xbfy;yhat\na;b\n\xef\xbb\xbfy;yhat\nc;d\n",
            "line 3 of p.csv repeats the header",
        ),
        (b'y,yhat\na,b\n"c,d\ne,f\n', "the quote on line 3 of p.csv is not closed"),
        (b'y,yhat\n"a\nb",c\r\nd,"e\n', "the quote on line 4 of p.csv is not closed"),
        (b'\xef\xbb\xbf"y";yhat\n"a""";"b\nc;d', "the quote on line 2 of p.csv is not closed"),
        (b'y,yhat\n"a,b\nc,d\n"e,f\n', "the quote on line 2 of p.csv has text behind the one"),
        (b'y,yhat,of\na,b,"x" 5"\n', "the quote on line 2 of p.csv has text behind the one"),
        (b"y,yhat\n", "p.csv holds no samples"),
        (b"", "p.csv has no column 'y'. It is empty"),
        (b"\ny,p\na,b\n", "p.csv has no column 'y'. It is empty, or its first line is"),
        (b"y,y,yhat\na,b,c\n", "the column 'y' occurs 2 times"),
        (b"a,b\nc,d\n", "has no column 'y'. It has 'a', 'b'"),
    ],
)
def test_a_damaged_csv_is_refused_with_the_place(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = write(tmp_path / "p.csv", content)

    with pytest.raises(InvalidInput) as caught:
        read_columns(path, ["y", "yhat"])

    assert says in str(caught.value)
    assert caught.value.hint


def test_a_byte_that_is_not_utf8_is_found_behind_the_first_block(tmp_path: Path) -> None:
    line = b"abcdefg,b\n"
    head = b"y,yhat\n" + line * 300_000
    path = write(tmp_path / "p.csv", head + b"x\xff,b\n")

    with pytest.raises(InvalidInput, match=f"byte {len(head) + 1} of p.csv"):
        read_columns(path, ["y", "yhat"])


def test_json_lines_keep_the_types_that_json_has(tmp_path: Path) -> None:
    rows = [{"y": label, "yhat": 7} for label in [*TRAPS, "2024-01-01"]]
    path = write(tmp_path / "p.jsonl", "\n".join(map(json.dumps, rows)).encode())

    columns = read_columns(path, ["y", "yhat"])

    assert as_list(columns["y"]) == [*TRAPS, "2024-01-01"]
    assert as_list(columns["yhat"]) == [7] * len(rows)


def test_values_may_be_missing_where_the_caller_allows_it(tmp_path: Path) -> None:
    lines = write(tmp_path / "p.jsonl", b'{"y": "a"}\n{"y": null}\n')
    table = write(tmp_path / "p.csv", b"y,z\na,1\n,2\n")

    for path in (lines, table):
        assert as_list(read_columns(path, ["y"], with_gaps=["y"])["y"]) == ["a", None]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"y": "a"}\n{"y": "b"\n', "line 2 of p.jsonl is not valid JSON"),
        (b'{"y": "a"}\n["b"]\n', "line 2 of p.jsonl is not a JSON object"),
        (b'{"y": "a"}\n\n{"z": "b"}\n', "line 3 of p.jsonl has no 'y'"),
        (b'{"y": NaN}\n', "NaN is not JSON"),
        (b'{"y": "a", "y": "b"}\n', "a member occurs twice"),
        (b'{"y": "caf\xe9"}\n', "line 1 of p.jsonl is not valid JSON"),
        (b"\n", "p.jsonl holds no samples"),
    ],
)
def test_damaged_json_lines_are_refused_with_the_line(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = write(tmp_path / "p.jsonl", content)

    with pytest.raises(InvalidInput) as caught:
        read_columns(path, ["y"])

    assert says in str(caught.value)


def test_parquet_and_arrow_give_the_named_columns_with_their_types(tmp_path: Path) -> None:
    table = pa.table({"y": TRAPS, "n": list(range(len(TRAPS))), "other": [None] * len(TRAPS)})
    pq.write_table(table, tmp_path / "p.parquet")
    with pa.ipc.new_file(tmp_path / "p.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(tmp_path / "p.arrows", table.schema) as stream:
        stream.write_table(table)

    for name in ("p.parquet", "p.arrow", "p.arrows"):
        columns = read_columns(tmp_path / name, ["n", "y"])

        assert as_list(columns["y"]) == TRAPS
        assert as_list(columns["n"]) == list(range(len(TRAPS)))


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0rest", b"y,yhat\na,b\n" * 10])
def test_a_file_that_is_not_what_its_suffix_says_is_refused(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = write(tmp_path / name, content)

    with pytest.raises(InvalidInput, match="is not a valid"):
        read_columns(path, ["y"])


def test_a_table_without_rows_or_without_the_column_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": pa.array([], pa.string())}), tmp_path / "p.parquet")

    with pytest.raises(InvalidInput, match="holds no samples"):
        read_columns(tmp_path / "p.parquet", ["y"])
    with pytest.raises(InvalidInput, match="no column 'z'"):
        read_columns(tmp_path / "p.parquet", ["z"])


def test_an_unknown_suffix_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.csv, \.tsv, \.parquet"):
        read_columns(write(tmp_path / "p.pkl", b"cos\nsystem\n"), ["y"])
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        read_columns(tmp_path / "missing.csv", ["y"])


def test_a_quote_within_a_value_without_quotes_is_part_of_the_value(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", b'y,yhat\n12" disk,"a ""b"""\nc"d,e\n"f"",",g"h"\n')

    columns = read_columns(path, ["y", "yhat"])

    assert as_list(columns["y"]) == ['12" disk', 'c"d', 'f",']
    assert as_list(columns["yhat"]) == ['a "b"', "e", 'g"h"']


def test_quotes_are_paired_across_blocks_of_a_file(tmp_path: Path) -> None:
    rows = [quoted([f'"{"x" * (row % 97)}"', "two\nlines"]) for row in range(30_000)]
    content = "\n".join(["y,yhat", *rows]).encode()
    read = read_columns(write(tmp_path / "p.csv", content), ["y", "yhat"])
    behind = f'{content.decode()}\n"c,d\ne,f\n"g,h\n'.encode()

    assert as_list(read["y"]) == [f'"{"x" * (row % 97)}"' for row in range(30_000)]
    with pytest.raises(InvalidInput, match="on line 60002 of p"):
        read_columns(write(tmp_path / "p.csv", behind), ["y", "yhat"])


def test_a_spreadsheet_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="save a spreadsheet as CSV"):
        read_columns(write(tmp_path / "p.xlsx", b"PK"), ["y"])


def test_a_folder_is_called_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is a folder\. Name a file with a table"):
        read_columns(tmp_path, ["y", "yhat"])
