"""A plain CSV table whose corner names an axis, as pandas and people write it.

`Actual,cat,dog` in the first line says that the first column holds actual classes, and so does
`actual \\ predicted`. A corner that says nothing decides nothing.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from offdiag.arrays.files import read_matrix
from offdiag.arrays.files.checks import damaged, unreadable
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers.counting import require_same
from offdiag.importers.imported import Imported, ImportedMatrix, Stated

CONVENTION = "The corner of the table names the axis that its first column belongs to."

_ROWS = SourceOrientation.ACTUAL_ROWS
_COLUMNS = SourceOrientation.ACTUAL_COLUMNS
_AXES: Mapping[str, SourceOrientation] = MappingProxyType(
    dict.fromkeys(("actual", "true", "truth", "y_true", "reference", "ground truth"), _ROWS)
    | dict.fromkeys(("predicted", "prediction", "predictions", "pred", "y_pred"), _COLUMNS)
)
_NOUNS = re.compile(r"(?<![a-z])(class|classes|label|labels|category)(?![a-z])|[↓→]")
_BETWEEN = re.compile(r"\\|/|\||\bvs\b|(?<=[↓→])\s")
_TOTALS = frozenset({"all", "total", "totals", "sum"})


def read_named_axes(path: Path, stated: Stated) -> Imported:
    """Read a `.csv` with a named axis, or in the long form. Raises `InvalidInput`."""
    return Imported("csv", CONVENTION, matrix_with_named_axes(path, stated), path)


def matrix_with_named_axes(path: Path, stated: Stated) -> ImportedMatrix:
    """The matrix of a `.csv` or `.json` file that says, or of which was said, what its rows are.

    Raises `InvalidInput` where nobody says it, and where file and caller disagree.
    """
    found = read_matrix(path)
    if found.labels is None and stated.labels is None:
        raise InvalidInput(
            f"{path.name} names no classes.", field="labels", hint="Name them in their order."
        )
    labels = tuple(found.labels or stated.labels or ())
    require_same(labels, stated.labels, path.name)
    said = found.orientation
    if said is None and path.suffix.lower() == ".csv":
        said = _orientation_in(_corner(path))
    if said is not None and stated.orientation not in (None, said):
        raise InvalidInput(
            f"{path.name} says {said.value!r}, the caller {stated.orientation!r}.",
            field="orientation",
            hint="Correct one of them.",
        )
    orientation = said or stated.orientation
    if orientation is None:
        raise InvalidInput(
            f"{path.name} does not say what its rows are, and a matrix cannot tell.",
            field="orientation",
            hint="Write actual or predicted into its corner, or state the orientation.",
        )
    _refuse_totals(found.matrix, labels, path.name)
    return ImportedMatrix(found.matrix, labels, orientation)


def _corner(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            return next((fields[0] for fields in csv.reader(text) if fields), "")
    except OSError as error:
        raise unreadable(path, error) from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise damaged(path, "CSV", error) from None


def _orientation_in(corner: str) -> SourceOrientation | None:
    """What a corner says, None unless every axis it names is known and they differ."""
    axes = [_axis(part) for part in _BETWEEN.split(corner)]
    if len(axes) == 2 and None not in axes and axes[0] is not axes[1]:
        return axes[0]
    return axes[0] if len(axes) == 1 else None


def _axis(text: str) -> SourceOrientation | None:
    return _AXES.get(_NOUNS.sub("", text.lower()).strip(" \t_-"))


def _refuse_totals(matrix: list[list[int]], labels: tuple[str, ...], name: str) -> None:
    """A line of sums is no class, and would halve every figure."""
    inner = [row[:-1] for row in matrix[:-1]]
    if labels[-1].strip().lower() in _TOTALS and inner:
        sums = [sum(column) for column in zip(*inner, strict=True)]
        if matrix[-1] == [*sums, sum(sums)]:
            raise InvalidInput(
                f"the last line of {name}, {labels[-1]!r}, holds totals.",
                field="matrix",
                hint="Leave the totals out.",
            )
