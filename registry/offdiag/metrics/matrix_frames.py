"""A confusion matrix in a DataFrame: what its axes are called and which classes they list.

`pandas.crosstab` names both axes and sorts each by itself, leaving out the classes that do not
occur along it. So cells are placed by the names they carry, and only a frame without names of
its own is taken as it lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.axis_names import axis_named
from offdiag.domain.labels import LabelSet, label_text, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput

_TOTALS = frozenset({"all", "total", "totals", "sum"})


@dataclass(frozen=True, eq=False)
class StatedMatrix:
    """A matrix (K, K) with its classes, as far as somebody named them, and what its rows are."""

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
    """What a caller and the axes of a DataFrame say together.

    The orientation is the stated one, that of a frame whose two axes are named as the actual and
    the predicted classes, or `otherwise`. Raises `InvalidInput` where nobody states it, where
    names and statement contradict each other, and for classes that cannot be placed.
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
            "nobody says what the rows are, and a matrix cannot tell.",
            field="orientation",
            hint='Give "actual_rows" (scikit-learn) or "actual_columns" (R caret), or a DataFrame '
            "whose two axes are named actual and predicted.",
        )
    counts, names = placed(matrix, labels)
    return StatedMatrix(counts, names, stated)


def is_frame(matrix: Any) -> bool:
    """Whether something has the two named axes of a DataFrame."""
    return not isinstance(matrix, np.ndarray) and all(
        hasattr(matrix, name) for name in ("index", "columns", "to_numpy")
    )


def named_orientation(matrix: Any) -> SourceOrientation | None:
    """What the names of both axes of a DataFrame say together; None where they do not."""
    if not is_frame(matrix):
        return None
    rows, columns = axis_named(matrix.index.name), axis_named(matrix.columns.name)
    return rows if rows is not None and columns not in (None, rows) else None


def require_agreement(
    matrix: Any, claimed: SourceOrientation, *, field: str = "orientation"
) -> None:
    """Raise `InvalidInput` for a DataFrame whose names of its axes contradict an orientation."""
    named = named_orientation(matrix)
    if named not in (None, claimed):
        raise InvalidInput(
            f"{claimed.value!r} contradicts the axes of the DataFrame, named "
            f"{matrix.index.name!r} (rows) and {matrix.columns.name!r} (columns).",
            field=field,
            hint="Leave the orientation out, or correct the names of the axes.",
        )


def placed(
    matrix: Any, labels: LabelSet | Iterable[object] | None
) -> tuple[Any, LabelSet | Sequence[object] | None]:
    """The cells of a DataFrame in the order of `labels`, or of its rows, and these labels.

    A class that `labels` declare and an axis leaves out has no cases along it. The numbers
    0, 1, … of both axes are places and not names, unless they are the labels. Anything but a
    frame is given back as it is. Raises `InvalidInput` for other classes than the declared ones,
    for axes that list different classes where none are declared, and for totals.
    """
    declared = labels if labels is None or isinstance(labels, LabelSet) else tuple(labels)
    if not is_frame(matrix):
        return matrix, declared
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
    """Raise `InvalidInput` for a last line of sums: no class, it would halve every figure."""
    rows = [list(row) for row in cells]
    inner = [row[:-1] for row in rows[:-1]]
    if labels and labels[-1].strip().lower() in _TOTALS and inner:
        sums = [sum(column) for column in zip(*inner, strict=True)]
        if rows[-1] == [*sums, sum(sums)]:
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
    """Whether both axes only count 0, 1, …, as those of a frame made from an array do."""
    counted = tuple(str(number) for number in range(len(rows)))
    if not tuple(rows) == tuple(columns) == counted:
        return False
    # A cross table of classes 0 and 1 lists them; a frame of an array has nothing but a range,
    # which has a name only where somebody called it after what it lists.
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
            hint="Give labels= with all classes: one that an axis leaves out has no cases there.",
        )
