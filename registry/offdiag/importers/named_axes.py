"""A plain CSV table whose corner names an axis, as pandas and people write it.

`Actual,cat,dog` in the first line says that the first column holds actual classes, and so does
`actual \\ predicted`. A corner that says nothing decides nothing.
"""

from __future__ import annotations

from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedMatrix, Stated, require_same
from offdiag.inputs.files.matrix import read_matrix
from offdiag.metrics.arguments import refuse_totals

CONVENTION = "The corner of the table names the axis that its first column belongs to."


def read_named_axes(path: Path, stated: Stated) -> Imported:
    """Read a `.csv` with a named axis, or in the long form. Raises `InvalidInput`."""
    return Imported("csv", CONVENTION, matrix_with_named_axes(path, stated), path)


def matrix_with_named_axes(path: Path, stated: Stated) -> ImportedMatrix:
    """The matrix of a `.csv` or `.json` file that says, or of which was said, what its rows are.

    Raises `InvalidInput` where it is not stated, and where file and caller disagree.
    """
    found = read_matrix(path, declared=stated.labels)
    if found.labels is None and stated.labels is None:
        raise InvalidInput(
            f"{path.name} names no classes.", field="labels", hint="Name them in their order."
        )
    labels = tuple(found.labels or stated.labels or ())
    require_same(labels, stated.labels, path.name)
    said = found.orientation
    if said is not None and stated.orientation not in (None, said):
        raise InvalidInput(
            f"{path.name} says {said.value!r}, the caller {stated.orientation!r}.",
            field="orientation",
            hint="Correct one of them.",
        )
    orientation = said or stated.orientation
    if orientation is None:
        raise InvalidInput(
            f"{path.name} does not say what its rows are, and a matrix cannot show it.",
            field="orientation",
            hint="Write actual or predicted into its corner, or state the orientation.",
        )
    refuse_totals(found.matrix, labels)
    return ImportedMatrix(found.matrix, labels, orientation)
