"""Reading columns of a CSV file as text; an empty cell without quotes is a missing value.

Arrow reads the file; if it refuses, Python's own reader reads it once more to find the line or
byte to name.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Collection, Iterator, Mapping
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import damaged, no_samples, require_columns, unreadable

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 20
_OTHER_KINDS = {
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"PAR1": "Parquet",
}
"""The kind of other files, by their first bytes."""


def read_csv_columns(path: Path, names: list[str]) -> dict[str, pa.Array]:
    """The named columns, with every value as the text in the file.

    An empty cell is null, or the empty text if it has quotes ("").

    Files are UTF-8 with or without a byte order mark, with any line ending, and with quotes
    doubled inside quotes. Fields are separated by commas, or by semicolons or tabs if the header
    has no comma. Raises `InvalidInput` with the line of a wrong number of fields, of a value that
    its quotes do not enclose or of a second header, or with the byte that is not UTF-8.
    """
    import pyarrow as pa

    header = _header(path)
    delimiter = _delimiter(header)
    require_columns(names, next(csv.reader([header], delimiter=delimiter)), path)
    _require_closed_quotes(path, delimiter)
    try:
        table = _as_text(path, names, delimiter)
    except pa.ArrowInvalid as error:
        _require_utf8(path)
        _require_equal_fields(path, delimiter)
        raise damaged(path, "CSV", error) from None
    if table.num_rows == 0:
        raise no_samples(path)
    _require_one_header(path, table)
    return {name: table.column(name).combine_chunks() for name in names}


def _require_one_header(path: Path, table: pa.Table) -> None:
    """Raise `InvalidInput` for a row that repeats the names of several columns.

    The headers of files that were joined would be samples.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.num_columns < 2:
        return
    repeats = reduce(
        pc.and_,
        (
            pc.is_in(table.column(name), value_set=pa.array([name, f"\ufeff{name}"], column_type))
            for name, column_type in zip(table.column_names, table.schema.types, strict=True)
        ),
    )
    row = int(pc.index(repeats, True).as_py())
    if row >= 0:
        raise InvalidInput(
            f"line {line_of_row(path, row)} of {path.name} repeats the header.",
            field="file",
            hint="Leave out the headers of files that were joined, but for the first.",
        )


def with_empty_text(
    columns: Mapping[str, pa.Array], names: Collection[str]
) -> dict[str, pa.Array]:
    """The columns with every empty cell of the named ones as the empty text, quoted or not."""
    return {
        name: column.fill_null("") if name in names else column for name, column in columns.items()
    }


def unquoted_gaps(path: Path, n_columns: int) -> frozenset[tuple[int, int]]:
    """Row and column, from 0, of each empty cell without quotes; the header is row 0.

    Python's own reader distinguishes such cells from quoted ones only from 3.12 on.
    """
    import pyarrow as pa

    names = [str(number) for number in range(n_columns)]
    try:
        table = _as_text(path, names, csv_delimiter(path), header=names)
    except pa.ArrowInvalid as error:
        raise damaged(path, "CSV", error) from None
    return frozenset(
        (row, place)
        for place, column in enumerate(table.columns)
        for row, is_gap in enumerate(column.is_null().to_pylist())
        if is_gap
    )


def line_of_row(path: Path, row: int) -> int:
    """The number of the line on which a row begins, with rows counted from 0 as they are read."""
    lines = (line for line, _ in _numbered_rows(path, csv_delimiter(path)))
    return next(islice(lines, 1 + row, None))


def _numbered_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of the header and of each row, after the number of the line with the first."""
    with path.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter)
        line = 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def _as_text(
    path: Path, names: list[str], delimiter: str, *, header: list[str] | None = None
) -> pa.Table:
    """The named columns as text, in which only empty cells without quotes are missing.

    Without a `header` the first line has the names. Raises what Arrow raises.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(encoding="utf8", column_names=header),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.large_string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def csv_delimiter(path: Path) -> str:
    """The field separator: a comma, or a semicolon or tab if the header has no comma."""
    return _delimiter(_header(path))


def csv_lines(path: Path) -> list[list[str]]:
    """The fields of each line that is not empty, separated as in tables. Raises `InvalidInput`."""
    try:
        delimiter = csv_delimiter(path)
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = csv.reader(text, delimiter=delimiter, strict=True)
            return [fields for fields in lines if fields]
    except OSError as error:
        raise unreadable(path, error) from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise damaged(path, "CSV", error) from None


def csv_column_names(path: Path) -> list[str]:
    """The names in the header, as written."""
    header = _header(path)
    return next(csv.reader([header], delimiter=_delimiter(header)), [])


def _header(path: Path) -> str:
    """The first line without its ending, for any kind of line ending."""
    _require_utf8(path, only_start=True)
    with path.open(encoding="utf-8-sig", newline=None) as text:
        return text.readline().removesuffix("\n")


def _delimiter(header: str) -> str:
    if "," in header:
        return ","
    return next((mark for mark in (";", "\t") if mark in header), ",")


def _require_utf8(path: Path, *, only_start: bool = False) -> None:
    """Raise `InvalidInput` naming the first byte that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with path.open("rb") as source:
        while True:
            block = source.read(_BLOCK)
            pending = len(decoder.getstate()[0])
            try:
                # A block of the file may end in the middle of a character.
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                byte = offset - pending + error.start
                kinds = (kind for start, kind in _OTHER_KINDS.items() if block.startswith(start))
                likely = "a binary file" if b"\0" in block else "Latin-1 or Windows-1252"
                kind = next(kinds, likely) if not offset else likely
                raise InvalidInput(
                    f"byte {byte} of {path.name} is not UTF-8.",
                    field="file",
                    hint=f"Write the file as UTF-8; it looks like {kind}.",
                ) from None
            offset += len(block)
            if not block or (only_start and len(block) == _BLOCK):
                return


def _require_closed_quotes(path: Path, delimiter: str) -> None:
    """Raise `InvalidInput` naming the line of a quote that is not closed, or inside a value.

    Arrow would read the lines up to the next quote as one value.
    """
    if _has_quotes_around_values(path, delimiter):
        return
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    ends = delimiter.encode() + b"\r\n"
    before = rb"(?:\A|(?<=[" + re.escape(ends) + rb"]))"
    for quoted in re.finditer(before + rb'"(?:[^"]|"")*+("?)', content):
        behind = content[quoted.end() : quoted.end() + 1]
        if quoted[1] and behind in ends:
            continue
        line = len(content[: quoted.start()].splitlines()) + (
            quoted.start() == 0 or content[quoted.start() - 1] in b"\r\n"
        )
        said = "has text behind the one that closes it" if quoted[1] else "is not closed"
        raise InvalidInput(
            f"the quote on line {line} of {path.name} {said}.",
            field="file",
            hint='Close it, or write a value that begins with a quote as """value". Quotes within '
            'a value in quotes are doubled ("").',
        )


def _has_quotes_around_values(path: Path, delimiter: str) -> bool:
    """Whether every quote begins or ends a value or is doubled within one, as in most files.

    Of two doubled quotes the first may as well end a value and the second begin it again.
    """
    beside = np.zeros(256, dtype=np.bool_)
    beside[list(b'"\r\n' + delimiter.encode())] = True
    is_open = False
    before = b"\n"
    with path.open("rb") as source:
        if source.peek(3).startswith(codecs.BOM_UTF8):
            source.read(len(codecs.BOM_UTF8))
        while block := source.read(_BLOCK):
            text = np.frombuffer(before + block + (source.peek(1)[:1] or b"\n"), dtype=np.uint8)
            quotes = np.flatnonzero(text[1:-1] == ord('"')) + 1
            begins, ends = quotes[is_open::2], quotes[not is_open :: 2]
            if not (beside[text[begins - 1]].all() and beside[text[ends + 1]].all()):
                return False
            is_open ^= len(quotes) % 2 == 1
            before = block[-1:]
    return not is_open


def _require_equal_fields(path: Path, delimiter: str) -> None:
    """Raise `InvalidInput` naming the first line with more or fewer fields than the header."""
    rows = _numbered_rows(path, delimiter)
    _, header = next(rows)
    for line, fields in rows:
        if len(fields) != len(header):
            raise InvalidInput(
                f"line {line} of {path.name} has {len(fields)} fields, "
                f"the header has {len(header)}.",
                field="file",
                hint="Quote a value that holds the separator; write empty values as nothing.",
            )
