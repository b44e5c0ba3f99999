"""R's caret: a printed `confusionMatrix`, or its table as CSV.

In contrast to most tools, rows of caret's table are predictions and columns are the reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile, zip_longest
from pathlib import Path

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedMatrix, Stated, from_cells, require_same
from offdiag.inputs.files.checks import damaged, unreadable
from offdiag.inputs.files.csv_table import csv_lines
from offdiag.inputs.files.matrix import read_matrix, require_names

CONVENTION = "Rows are predictions and columns the reference, as in table(data, reference)."
_LONG_FORM = ("Prediction", "Reference", "Freq")
_OWN_CORNERS = ("", "Prediction")
_POSITIVE = re.compile(r"'Positive' Class\s*:\s*(.+)")
_AVERAGES = re.compile(r"\(entries are ((percentual )?average cell counts[^)]*)\)")
"""What caret prints above the table of a resampled model unless it adds up counts."""
_MOST_DIGITS = 25
_SHARES = re.compile(r"\s\d+\.\d+$")


def read_caret(path: Path, stated: Stated) -> Imported:
    """Read printed text, or a `.csv` of the table. Raises `InvalidInput`."""
    params: dict[str, Scalar] = {}
    if path.suffix.lower() == ".csv":
        content = _from_csv(path, stated.labels or ())
    else:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise unreadable(path, error) from None
        except UnicodeDecodeError as error:
            raise damaged(path, "text", error) from None
        averages = _AVERAGES.search(text)
        if averages is not None:
            raise _no_counts(f"{path.name} prints {averages[1]!r}.")
        content = _from_text(text.splitlines(), path.name)
        positive = _POSITIVE.search(text)
        if positive is not None:
            params["caret.positive_class"] = positive.group(1).strip()
    require_same(content.labels, stated.labels, path.name)
    return Imported("caret", CONVENTION, content, path, params)


def _from_csv(path: Path, declared: tuple[str, ...]) -> ImportedMatrix:
    header, *rows = csv_lines(path) or [[]]
    is_long = all(header.count(name) == 1 for name in _LONG_FORM)
    if is_long:
        cells = [dict(zip_longest(header, fields)) for fields in rows]
        if "" not in declared:
            empty = [
                (row, header.index(name))
                for row, cell in enumerate(cells, start=1)
                for name in _LONG_FORM[:2]
                if cell[name] == ""
            ]
            require_names(path, empty, n_columns=len(header))
        matrix, labels = from_cells(
            (cell["Reference"], cell["Prediction"], _count(cell["Freq"])) for cell in cells
        )
        return ImportedMatrix(matrix, labels, SourceOrientation.ACTUAL_ROWS)
    if header and header[0] not in _OWN_CORNERS:
        raise InvalidInput(
            f"the corner of {path.name} says {header[0]!r}; caret leaves it empty.",
            field="file",
            hint="A table with named axes is read by the dialect csv.",
        )
    found = read_matrix(path, declared=declared)
    return ImportedMatrix(
        found.matrix, tuple(found.labels or ()), SourceOrientation.ACTUAL_COLUMNS
    )


def _from_text(lines: Sequence[str], name: str) -> ImportedMatrix:
    head = next(
        (
            number
            for number, line in enumerate(lines[:-1])
            if line.strip() == "Reference" and lines[number + 1].split()[:1] == ["Prediction"]
        ),
        None,
    )
    if head is None:
        raise InvalidInput(
            f"{name} holds no table with the rows Prediction and the columns Reference.",
            field="file",
            hint="Print the confusionMatrix; a table with other names is read by the dialect csv.",
        )
    rows = list(takewhile(str.strip, lines[head + 2 :]))
    matrix, labels = [], []
    for line in rows:
        # As many counts as there are rows, and a name in front, which may hold spaces and digits.
        fields = line.rsplit(maxsplit=len(rows))
        counts = fields[-len(rows) :]
        if len(counts) < len(rows) or not all(map(_is_count, counts)):
            raise _unreadable_row(line, name)
        labels.append(fields[0].strip() if len(fields) > len(rows) else "")
        matrix.append([int(cell) for cell in counts])
    columns = lines[head + 1].split()[1:]
    if columns != " ".join(labels).split():
        raise InvalidInput(
            f"{name} has the columns {' '.join(columns)!r} and the rows {', '.join(labels)!r}.",
            field="labels",
            hint="Write the table as CSV: write.csv(cm$table).",
        )
    return ImportedMatrix(matrix, tuple(labels), SourceOrientation.ACTUAL_COLUMNS)


def _unreadable_row(line: str, name: str) -> InvalidInput:
    if _SHARES.search(line.rstrip()):
        return _no_counts(f"{name} prints shares: {line.strip()[:60]!r}.")
    return InvalidInput(
        f"line {line.strip()[:60]!r} of {name} has fewer counts than there are classes.",
        field="matrix",
        hint="Was the table folded? Print it after options(width = 10000).",
    )


def _no_counts(message: str) -> InvalidInput:
    return InvalidInput(
        message, field="matrix", hint='Print the counts: confusionMatrix(…, norm = "none").'
    )


def _count(text: str | None) -> object:
    return int(text) if text is not None and _is_count(text.strip()) else text


def _is_count(text: str) -> bool:
    """Whether a text is a whole number that may be a count."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS
