"""A matrix file together with what the command line says about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from offdiag.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class MatrixInput:
    """A matrix whose orientation has been stated by the file or by the caller."""

    matrix: list[list[int]]
    labels: list[str] | None
    orientation: str


def read_matrix_input(
    file: Path, *, labels: list[str] | None, orientation: str | None
) -> MatrixInput:
    """Read a matrix; the options fill in what the file leaves open and must not contradict it.

    Raises `InvalidInput`, also when nobody states the orientation.
    """
    from offdiag.inputs.files import read_matrix

    found = read_matrix(file, declared=labels)
    if found.labels is not None and labels is not None and found.labels != labels:
        raise InvalidInput(
            f"{file.name} names its classes {found.labels[:5]}, not {labels[:5]}.",
            field="labels",
            hint="Leave out --labels, or correct the file.",
        )
    stated = found.orientation
    if stated is None and orientation is None:
        raise InvalidInput(
            f"{file.name} does not say what its rows are, and a matrix cannot tell.",
            field="orientation",
            hint="Give --orientation actual_rows (scikit-learn) or actual_columns (R caret).",
        )
    if stated is not None and orientation not in (None, stated.value):
        raise InvalidInput(
            f"{file.name} says {stated.value!r}, the option says {orientation!r}.",
            field="orientation",
            hint="Correct one of them.",
        )
    return MatrixInput(found.matrix, found.labels or labels, stated or str(orientation))
