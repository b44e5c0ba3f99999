"""Any table of counts, printed the way R prints it, is read back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.orientation import SourceOrientation
from offdiag.importers import ImportedMatrix, read

WORDS = st.text(alphabet="ab1 2.", min_size=1, max_size=8).map(str.strip).filter(bool)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[int]]]:
    labels = draw(st.lists(WORDS, min_size=1, max_size=5, unique=True))
    row = st.lists(st.integers(0, 10**6), min_size=len(labels), max_size=len(labels))
    return labels, draw(st.lists(row, min_size=len(labels), max_size=len(labels)))


def printed(labels: list[str], matrix: list[list[int]]) -> str:
    """Row names left, columns right-aligned under their names, as print.table does."""
    stub = max(len("Prediction"), *(len(label) for label in labels))
    widths = [
        max(len(label), *(len(str(row[place])) for row in matrix))
        for place, label in enumerate(labels)
    ]

    def line(name: str, cells: list[str]) -> str:
        aligned = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return " ".join([name.ljust(stub), *aligned])

    rows = [
        line(label, [str(cell) for cell in row]) for label, row in zip(labels, matrix, strict=True)
    ]
    head = [" " * stub + " Reference", line("Prediction", labels)]
    return "\n".join(["Confusion Matrix and Statistics", "", *head, *rows, "", "Accuracy : 1"])


@given(table=tables())
def test_a_printed_table_is_read_back(table: tuple[list[str], list[list[int]]]) -> None:
    labels, matrix = table
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cm.txt"
        path.write_text(printed(labels, matrix), encoding="utf-8")

        found = read("caret", path)

    assert found.content == ImportedMatrix(matrix, tuple(labels), SourceOrientation.ACTUAL_COLUMNS)
