"""Checks of the numbers that statistical functions are given.

Each raises `InvalidInput` naming the argument, the offending value and the way out, so that a
swapped, negative or missing number never becomes a plausible result.

A DataFrame can say which of its axes holds the actual classes, and which classes each axis lists.
`pandas.crosstab` names both axes and sorts each separately, leaving out the classes that do not
occur along it. So cells are placed by the class names on the axes; only a frame whose axes carry
no class names is read in the order it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.column_names import names_without_index
from offdiag.domain.labels import LabelSet, in_their_order, label_text, require_known
from offdiag.domain.orientation import SourceOrientation, axis_named, turned
from offdiag.errors import InvalidInput

_TOTALS = frozenset({"all", "total", "totals", "sum"})


@dataclass(frozen=True, eq=False)
class StatedMatrix:
    """A matrix (K, K) with its classes, as far as they were named, and what its rows are."""

    matrix: Any
    labels: LabelSet | Iterable[object] | None
    orientation: SourceOrientation


def stated_matrix(
    matrix: Any,
    *,
    labels: LabelSet | Iterable[object] | None,
    orientation: str | None,
    otherwise: SourceOrientation | None = None,
) -> StatedMatrix:
    """Combine what the caller states with what the axes of a DataFrame say.

    The orientation is the stated one, or that of a frame whose axes are named as actual and
    predicted classes, or `otherwise`. Raises `InvalidInput` if there is none of these, if the
    names contradict the statement, and for classes that cannot be placed.
    """
    if orientation is not None:
        known = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)
        require_known(orientation, known, field_name="orientation")
    named = named_orientation(matrix)
    if orientation is not None:
        require_agreement(matrix, SourceOrientation(orientation))
    stated = SourceOrientation(orientation) if orientation is not None else named or otherwise
    if stated is None:
        raise InvalidInput(
            "the orientation is not given, and a matrix does not show it.",
            field="orientation",
            hint='Give "actual_rows" (scikit-learn) or "actual_columns" (R caret), or a DataFrame '
            "whose two axes are named actual and predicted.",
        )
    counts, names = placed(matrix, labels)
    return StatedMatrix(counts, names, stated)


def is_frame(matrix: Any) -> bool:
    """Whether a value has the two named axes of a DataFrame."""
    return not isinstance(matrix, np.ndarray) and all(
        hasattr(matrix, name) for name in ("index", "columns", "to_numpy")
    )


def named_orientation(matrix: Any) -> SourceOrientation | None:
    """The orientation that the axis names of a DataFrame imply; None unless both agree."""
    if not is_frame(matrix):
        return None
    rows, columns = axis_named(matrix.index.name), axis_named(matrix.columns.name)
    return rows if rows is not None and columns not in (None, rows) else None


def contradicts(matrix: Any, claimed: SourceOrientation) -> bool:
    """Whether a DataFrame's axis names speak against an orientation and neither speaks for it."""
    if not is_frame(matrix):
        return False
    rows, columns = axis_named(matrix.index.name), axis_named(matrix.columns.name)
    said = {rows, turned(columns)} - {None}
    return bool(said) and claimed not in said


def require_agreement(matrix: Any, claimed: SourceOrientation) -> None:
    """Raise `InvalidInput` if the axis names of a DataFrame contradict an orientation."""
    if contradicts(matrix, claimed):
        raise InvalidInput(
            f"{claimed.value!r} contradicts the axes of the DataFrame, named "
            f"{matrix.index.name!r} (rows) and {matrix.columns.name!r} (columns).",
            field="orientation",
            hint="Leave the orientation out, or correct the names of the axes.",
        )


def placed(
    matrix: Any, labels: LabelSet | Iterable[object] | None
) -> tuple[Any, LabelSet | Sequence[object] | None]:
    """The cells of a DataFrame in the order of `labels`, or of its rows, and these labels.

    A class that `labels` declare and an axis leaves out has no samples along it. The numbers
    0, 1, … on both axes are positions, not names, unless they are the labels. In a table without
    an index (polars, pyarrow) the columns name the classes of both axes, in the same order.
    Anything else is returned unchanged. Raises `InvalidInput` for classes that were not declared,
    for axes that list different classes where none are declared, and for totals.
    """
    declared = labels if labels is None or isinstance(labels, LabelSet) else in_their_order(labels)
    if not is_frame(matrix):
        named = names_without_index(matrix, declared, field="matrix")
        return matrix, named.names if declared is None and named is not None else declared
    values = np.asarray(matrix.to_numpy())
    rows, columns = _names(matrix.index), _names(matrix.columns)
    wanted = None if declared is None else LabelSet.declared(declared).names
    if _are_places(matrix, rows, columns, wanted):
        return values, declared
    refuse_totals(values, rows)
    if wanted is None:
        _require_same_classes(rows, columns)
        wanted = rows
    for name in (*rows, *columns):
        if name not in wanted:
            raise InvalidInput(
                f"the DataFrame has a class {name!r}, which is not among the labels {wanted[:5]}.",
                field="labels",
                hint="Declare every class, or leave labels out where both axes list them all.",
            )
    place = {name: code for code, name in enumerate(wanted)}
    cells: NDArray[Any] = np.zeros((len(wanted), len(wanted)), dtype=values.dtype)
    cells[np.ix_([place[name] for name in rows], [place[name] for name in columns])] = values
    return cells, wanted if declared is None else declared


def refuse_totals(cells: Any, labels: Sequence[str]) -> None:
    """Raise `InvalidInput` if the last line holds totals: as a class they would halve figures."""
    if not labels or labels[-1].strip().lower() not in _TOTALS:
        return  # Does not read a matrix of many classes a second time.
    rows = [list(row) for row in cells]
    inner = [row[:-1] for row in rows[:-1]]
    if inner:
        sums = [sum(column) for column in zip(*inner, strict=True)]
        if any(rows[-1]) and rows[-1] == [*sums, sum(sums)]:
            raise InvalidInput(
                f"the last line of the matrix, {labels[-1]!r}, holds totals.",
                field="matrix",
                hint="Leave the totals out.",
            )


def _names(axis: Any) -> tuple[str, ...]:
    return LabelSet.declared(label_text(label, field_name="labels") for label in axis).names


def _are_places(
    frame: Any, rows: Sequence[str], columns: Sequence[str], wanted: Sequence[str] | None
) -> bool:
    """Whether both axes only count 0, 1, …, as in a frame made from an array."""
    counted = tuple(str(number) for number in range(len(rows)))
    if not tuple(rows) == tuple(columns) == counted:
        return False
    # A cross table of classes 0 and 1 lists them; a frame made from an array has a plain range,
    # which has a name only if the caller named it after what it lists.
    axes = (frame.index, frame.columns)
    is_range = all(type(axis).__name__ == "RangeIndex" and axis.name is None for axis in axes)
    return is_range or (wanted is not None and set(wanted) != set(counted))


def _require_same_classes(rows: Sequence[str], columns: Sequence[str]) -> None:
    odd = sorted(set(rows) ^ set(columns))
    if odd:
        axis = "rows" if odd[0] in rows else "columns"
        raise InvalidInput(
            f"the class {odd[0]!r} is only among the {axis} of the DataFrame.",
            field="matrix",
            hint="Give labels= with all classes: one that an axis leaves out has no samples.",
        )


LARGEST_COUNT = 2**62
"""Counts stay below this, so that sums and differences of two cannot wrap in int64."""


def whole_counts(values: ArrayLike, *, field: str) -> NDArray[np.int64]:
    """Non-negative whole numbers of any shape, as int64."""
    numbers = _numbers(values, field=field, hint="Give counts: whole numbers, 0 or more.")
    _refuse(~np.isfinite(numbers), numbers, field, "is not finite", "Give whole numbers.")
    _refuse(numbers < 0, numbers, field, "is negative", "Counts are 0 or more.")
    _refuse(numbers >= LARGEST_COUNT, numbers, field, "is too large", "Counts go up to 4.6e18.")
    if numbers.dtype.kind == "f":
        _refuse(
            numbers != np.floor(numbers),
            numbers,
            field,
            "is not whole",
            "Give counts, not shares or sums of weights.",
        )
    return numbers.astype(np.int64)


def count_of(value: object, *, field: str) -> int:
    """One non-negative whole number, as a Python integer."""
    counts = whole_counts(value, field=field)  # type: ignore[arg-type]  # Checked inside.
    if counts.ndim:
        raise InvalidInput(
            f"an array of shape {counts.shape} was given.", field=field, hint="Give one number."
        )
    return int(counts)


def square_table(table: ArrayLike, *, field: str) -> NDArray[np.int64]:
    """A square table of counts, shape (K, K), K at least 1; a DataFrame is read by its labels."""
    cells, _ = placed(table, None)
    counts = whole_counts(cells, field=field)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.size == 0:
        raise InvalidInput(
            f"the shape is {counts.shape}.",
            field=field,
            hint="The table is square: the same classes along both axes.",
        )
    if float(counts.astype(np.float64).sum()) >= LARGEST_COUNT:
        raise InvalidInput(
            "the counts add up to 4.6e18 or more.",
            field=field,
            hint="Totals up to 4.6e18 are supported.",
        )
    return counts


def finite_vector(values: ArrayLike, *, field: str) -> NDArray[np.float64]:
    """A one-dimensional array of finite numbers, shape (n,)."""
    numbers = _numbers(values, field=field, hint="Give a one-dimensional array of numbers.")
    if numbers.ndim != 1:
        raise InvalidInput(
            f"the shape is {numbers.shape}.",
            field=field,
            hint="Give a one-dimensional array, one number for each sample.",
        )
    _refuse(~np.isfinite(numbers), numbers, field, "is not finite", "Drop or repair the sample.")
    return numbers.astype(np.float64)


def zero_one(values: ArrayLike, *, field: str, hint: str) -> NDArray[np.bool_]:
    """An array of 0 and 1, or of booleans, of any shape, as booleans."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array
    numbers = _numbers(array, field=field, hint=hint)
    _refuse((numbers != 0) & (numbers != 1), numbers, field, "is neither 0 nor 1", hint)
    return numbers.astype(np.bool_)


def probabilities(values: ArrayLike, *, field: str) -> NDArray[np.float64]:
    """Numbers from 0 to 1, of any shape."""
    numbers = _numbers(values, field=field, hint="Give numbers from 0 to 1.")
    outside = ~((numbers >= 0) & (numbers <= 1))
    _refuse(outside, numbers, field, "is not between 0 and 1", "Give probabilities from 0 to 1.")
    return numbers.astype(np.float64)


def confidence_level(confidence: float) -> float:
    """A confidence strictly between 0 and 1."""
    number = _numbers(confidence, field="confidence", hint="Give a number such as 0.95.")
    if number.ndim or not 0.0 < float(number) < 1.0:
        raise InvalidInput(
            f"{confidence!r} is not a number strictly between 0 and 1.",
            field="confidence",
            hint="Write 95 % as 0.95.",
        )
    return float(number)


def positive_count(value: int, *, field: str) -> int:
    """A whole number of at least 1."""
    count = count_of(value, field=field)
    if count == 0:
        raise InvalidInput("it is 0.", field=field, hint="Give a whole number from 1.")
    return count


def is_masked_array(values: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Whether values are an array of `numpy.ma`, without importing it to check a plain array."""
    is_derived = isinstance(values, np.ndarray) and type(values) is not np.ndarray
    return is_derived and isinstance(values, np.ma.MaskedArray)


def unmasked(values: object) -> Any:
    """The values, with NaN in place of numbers a masked array hides (numpy would reveal them)."""
    if not is_masked_array(values):  # A frame may have a column called _mask.
        return values
    hides_numbers = np.ma.is_masked(values) and values.dtype.kind in "iubf"
    return np.ma.filled(values.astype("f8"), np.nan) if hides_numbers else values.data


def _numbers(values: ArrayLike, *, field: str, hint: str) -> NDArray[Any]:
    try:
        array = np.asarray(unmasked(values))
    except ValueError:
        raise InvalidInput("the rows differ in length.", field=field, hint=hint) from None
    if array.dtype.kind == "O" and all(isinstance(each, Decimal) for each in array.flat):
        array = array.astype("f8")  # Databases return decimals.
    if array.dtype.kind not in "iuf" and array.size:
        raise InvalidInput(f"{_shown(values)} is not numeric.", field=field, hint=hint)
    return array if array.size else array.astype(np.float64)


def _refuse(
    broken: NDArray[np.bool_], numbers: NDArray[Any], field: str, what: str, hint: str
) -> None:
    """Raise for the first broken number, if there is one."""
    if not broken.any():
        return
    place = tuple(int(index) for index in np.argwhere(broken)[0])
    where = "".join(f"[{index}]" for index in place)
    prefix = f"the value at {where}, " if where else ""
    raise InvalidInput(f"{prefix}{numbers[place]} {what}.", field=field, hint=hint)


def _shown(values: object) -> str:
    text = repr(values)
    return text if len(text) <= 40 else f"{text[:39]}…"
