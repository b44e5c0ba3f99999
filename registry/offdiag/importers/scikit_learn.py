"""scikit-learn: the array of `confusion_matrix`, with the dict of `classification_report`.

The array has no labels, so they come from the caller or from the report. The report also has the
support of each class, which shows if the arguments of the matrix were swapped, and its recall and
precision, which show if the classes are in another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from tokenize import TokenError

import numpy as np

from offdiag.domain.labels import MAX_CLASSES
from offdiag.domain.number_text import read_number
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers.imported import (
    Imported,
    ImportedMatrix,
    Stated,
    require_same,
    square,
    whole_count,
)
from offdiag.inputs.files.checks import both_readings, damaged, may_part_thousands, unreadable
from offdiag.inputs.files.json_files import read_json_file

CONVENTION = "Rows are actual and columns predicted classes, in the order of labels=."
_AVERAGES = frozenset({"micro avg", "macro avg", "weighted avg", "samples avg"})
_RATES = ("recall", "precision", "f1-score")
_ROUNDING = 1e-9


def read_scikit_learn(path: Path, stated: Stated) -> Imported:
    """Read a `.npy`, `.json`, `.csv` or `.txt` array. Raises `InvalidInput`."""
    matrix = square(_array(path), path.name)
    labels = stated.labels
    if stated.report is not None:
        rows = _classes(stated.report)
        require_same(tuple(rows), labels, stated.report.name)
        labels = tuple(rows)
        _require_same_predictions(matrix, rows, stated.report)
    if labels is None:
        raise InvalidInput(
            f"{path.name} holds numbers and no class names.",
            field="labels",
            hint="Name them in the order given to confusion_matrix (sorted, if none was "
            "given), or give the classification report.",
        )
    if len(labels) != len(matrix):
        raise InvalidInput(
            f"the matrix is {len(matrix)} x {len(matrix)}, but {len(labels)} labels are named.",
            field="labels",
            hint="Name each class once; a report leaves out classes that labels= left out.",
        )
    content = ImportedMatrix(matrix, labels, SourceOrientation.ACTUAL_ROWS)
    return Imported("sklearn", CONVENTION, content, path)


def _array(path: Path) -> object:
    try:
        if path.suffix.lower() == ".json":
            return read_json_file(path)
        if path.suffix.lower() == ".npy":
            return _numpy_array(path)
        if path.suffix.lower() in {".csv", ".txt"}:
            return _text_array(path)
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise damaged(path, path.suffix.lstrip("."), error) from None
    except OSError as error:
        raise unreadable(path, error) from None
    raise InvalidInput(
        f"the suffix of {path.name!r} is not supported.",
        field="file",
        hint="Use .npy, .json, .csv or .txt (numpy.savetxt).",
    )


def _numpy_array(path: Path) -> object:
    """The array in a `.npy` file, memory-mapped: a header that claims too much reads nothing.

    After the header only numbers are accepted; objects would be unpickled.
    """
    try:
        found = np.lib.format.open_memmap(path, mode="r")
    except TokenError as error:
        raise ValueError(f"its header cannot be read: {error}") from None
    if found.dtype.kind not in "biuf" or max(found.shape, default=0) > MAX_CLASSES:
        raise InvalidInput(
            f"{path.name} holds {found.dtype} of shape {found.shape}.",
            field="matrix",
            hint=f"A confusion matrix has numbers of at most {MAX_CLASSES:,} classes.",
        )
    return found.tolist()


def _text_array(path: Path) -> object:
    """The output of numpy.savetxt: numbers separated by commas, semicolons or spaces."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = [line.replace(",", " ").replace(";", " ").split() for line in lines if line.strip()]
    _require_no_thousands([cell for row in rows for cell in row])
    try:
        return [list(map(read_number, row)) for row in rows]
    except ValueError as error:
        raise InvalidInput(
            f"{path.name} does not hold numbers alone ({error}).",
            field="matrix",
            hint="`offdiag log FILE --matrix` reads a matrix with class names, and `offdiag audit "
            "FILE` a classification report.",
        ) from None


def _require_no_thousands(cells: list[str]) -> None:
    """Raise `InvalidInput` for 1.000 next to 5: NumPy writes a point in all cells, or in none."""
    found = next(filter(may_part_thousands, cells), None)
    if found is not None and any("." not in cell for cell in cells):
        raise InvalidInput(
            f"the cell {found} may be {both_readings(found)}.",
            field="matrix",
            hint="Write counts as whole numbers, without a point.",
        )


def _classes(path: Path) -> dict[str, Mapping[str, object]]:
    """The row of each class, in the order of the report."""
    report = read_json_file(path, decimal=Decimal)  # As they are written.
    rows = report.items() if isinstance(report, dict) else ()
    found: dict[str, Mapping[str, object]] = {
        name: row
        for name, row in rows
        if name not in _AVERAGES and isinstance(row, dict) and "support" in row
    }
    if not found:
        raise InvalidInput(
            f"{path.name} is not a classification report.",
            field="report",
            hint="Write classification_report(…, output_dict=True) as JSON.",
        )
    return found


def _require_same_predictions(
    matrix: list[list[int]], rows: Mapping[str, Mapping[str, object]], report: Path
) -> None:
    support = [_support(row["support"], f"support of {name!r}") for name, row in rows.items()]
    if len(support) != len(matrix):
        return  # The caller reports a wrong number of labels.
    actual = [sum(row) for row in matrix]
    predicted = [sum(column) for column in zip(*matrix, strict=True)]
    if actual != support:
        swapped = predicted == support
        raise InvalidInput(
            f"the {'columns' if swapped else 'rows'} of the matrix "
            f"{'add up to the support' if swapped else 'do not add up to the support'} "
            f"in {report.name}.",
            field="matrix",
            hint="The matrix is transposed: confusion_matrix takes y_true first."
            if swapped
            else "The matrix and the report are not of the same predictions.",
        )
    finest = max(_n_digits(row.get(key)) for row in rows.values() for key in _RATES)
    for place, (name, row) in enumerate(rows.items()):
        for key, total in (("recall", actual[place]), ("precision", predicted[place])):
            reported = row.get(key)
            if total and not _agrees(reported, matrix[place][place] / total, finest):
                raise InvalidInput(
                    f"the {key} of {name!r} is {reported} in {report.name}, but "
                    f"{matrix[place][place] / total:.4g} in the matrix.",
                    field="report",
                    hint="Write the report without sort_keys, so that its classes have the order "
                    "of the matrix, and of the same predictions.",
                )


def _support(number: object, place: str) -> int:
    return whole_count(float(number) if isinstance(number, Decimal) else number, place)


def _n_digits(reported: object) -> int:
    """The digits after the point, as they are written."""
    exponent = reported.as_tuple().exponent if isinstance(reported, Decimal) else 0
    return -exponent if isinstance(exponent, int) else 0


def _agrees(reported: object, rate: float, finest: int) -> bool:
    """Whether a reported rate is this one up to its digits; so is one that is left out.

    0.998 may be rounded to 1.0, and an exact 1 is also written as 1.0. So a whole rate has the
    `finest` digits of any rate in the report, at least one.
    """
    if isinstance(reported, bool) or not isinstance(reported, (int, Decimal)):
        return True
    n_digits = _n_digits(reported)
    if reported % 1 == 0:
        n_digits = max(n_digits, finest, 1)
    return abs(float(reported) - rate) <= 10.0**-n_digits / 2 + _ROUNDING
