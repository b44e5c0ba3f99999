"""Bringing scores with named columns into label order.

Read by position, the columns (b, a) would turn an area under the ROC curve of 1 into 0 without any
warning. Columns without names are in label order, and so are columns numbered by pandas, unless
the classes are these numbers, and those that polars calls column_0, column_1 and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.column_names import are_numbered
from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import as_array, is_of_structs, readable

_FIELD = "y_score"
_COLUMN_AXIS = 1


@dataclass(frozen=True, eq=False)
class PickedColumns:
    """Scores that were selected from a larger table, (n,) or (n, K), with their columns' names.

    The names in such a table may have the same prefix and suffix around each class, as in p_cat
    and p_dog.
    """

    values: NDArray[Any]
    names: tuple[str, ...]


def in_label_order(y_score: object, labels: LabelSet, *, field: str = _FIELD) -> Any:
    """The scores with one column per class in label order, if their columns have names.

    Named columns are those of a frame or table, of `PickedColumns`, and of a mapping from classes
    to n scores each; they may come in any order. Everything else, and a single column, is returned
    unchanged. Raises `InvalidInput` naming the columns if they are not the classes.
    """
    values, names = _taken_apart(y_score, field)
    if names is None or len(names) == 1:
        return values
    affixed = isinstance(y_score, PickedColumns)
    order = _order(names, labels, affixed=affixed)
    if order is None:
        if are_numbered(names):
            return values
        raise _other_classes(names, labels, field, affixed=affixed)
    if order == list(range(len(order))):
        return values
    return np.take(np.asarray(readable(values)), order, axis=_COLUMN_AXIS)


def require_column_of(y_score: object, labels: LabelSet, positive_label: str | None) -> None:
    """Raise `InvalidInput` for a single column of scores that is named after the other class."""
    names = _taken_apart(y_score, _FIELD)[1]
    if names is None:
        names = (getattr(y_score, "name", None),)
    if len(names) != 1 or len(labels) != 2:
        return
    if not isinstance(y_score, Mapping) and not isinstance(names[0], (str, bool, np.bool_)):
        return  # Perhaps only its place in a table.
    name = _text(names[0])
    if name in labels.index and positive_label is not None and name != positive_label:
        raise InvalidInput(
            f"the column of scores is called {name!r}, but the positive class is "
            f"{positive_label!r}.",
            field=_FIELD,
            hint=f"Give the scores of {positive_label!r}, or pass .to_numpy() if these are.",
        )


def _taken_apart(y_score: Any, field: str) -> tuple[Any, tuple[object, ...] | None]:
    """The values, and the names of their columns if they have any."""
    import pyarrow as pa

    if isinstance(y_score, PickedColumns):
        return y_score.values, y_score.names
    if isinstance(y_score, Mapping):
        return _stacked(y_score, field), tuple(y_score)
    if is_of_structs(y_score):
        y_score = y_score.struct.unnest()
    if isinstance(y_score, (pa.Table, pa.RecordBatch)):
        return y_score, tuple(y_score.schema.names)
    columns = getattr(y_score, "columns", None)
    if columns is None:
        return y_score, None
    names = tuple(columns)
    if names == tuple(f"column_{place}" for place in range(len(names))):
        return y_score, None
    return y_score, names


def _stacked(by_class: Mapping[Any, object], field: str) -> NDArray[Any]:
    columns = [as_array(values, field=field) for values in by_class.values()]
    if not columns or any(
        column.ndim != 1 or len(column) != len(columns[0]) for column in columns
    ):
        raise InvalidInput(
            "the columns of scores differ in length, or there are none.",
            field=field,
            hint="Give n scores for each class: {class: scores}.",
        )
    return np.stack(columns, axis=_COLUMN_AXIS)


def _order(names: Sequence[object], labels: LabelSet, *, affixed: bool) -> list[int] | None:
    """The position of each class among the columns; None if these are not the classes."""
    texts = [_text(name) for name in names]
    if len(texts) != len(labels) or len(set(texts)) != len(texts):
        return None
    place = {text: at for at, text in enumerate(texts)}
    for before, after in _affixes(texts, labels) if affixed else [("", "")]:
        wanted = [f"{before}{label}{after}" for label in labels.names]
        if place.keys() == set(wanted):
            return [place[text] for text in wanted]
    return None


def places_of_classes(names: Sequence[str], labels: LabelSet, *, field: str) -> list[int]:
    """The position of each class among columns that are named after the classes.

    Raises `InvalidInput` naming the columns if they are not the classes.
    """
    order = _order(names, labels, affixed=True)
    if order is None:
        raise _other_classes(names, labels, field, affixed=True)
    return order


def _affixes(texts: Sequence[str], labels: LabelSet) -> list[tuple[str, str]]:
    """Possible prefixes and suffixes around each class, from columns with the first class.

    At most one of them turns the classes into the columns.
    """
    label = labels.names[0]
    return [
        (text[:start], text[start + len(label) :])
        for text in texts
        for start in range(len(text) - len(label) + 1)
        if text.startswith(label, start)
    ]


def _text(name: object) -> str:
    try:
        return label_text(name)
    except InvalidInput:
        return repr(name)


def _other_classes(
    names: Sequence[object], labels: LabelSet, field: str, *, affixed: bool
) -> InvalidInput:
    texts = [_text(name) for name in names]
    shown = ", ".join(repr(text) for text in texts[:5]) + (", …" if len(texts) > 5 else "")
    doubled = next((text for text in texts if texts.count(text) > 1), None)
    lacking = next((label for label in labels.names if label not in texts), None)
    strange = next((text for text in texts if text not in labels.index), None)
    if doubled is not None:
        what = f"{doubled!r} occurs more than once"
    elif strange is not None:
        what = f"{strange!r} is not a class"
    else:
        what = f"{lacking!r} has no column"
    hint = (
        "Call each column after its class, with the same text around all or none, as p_cat and "
        "p_dog; log_frame also takes {class: column}."
        if affixed
        else "Call each column after its class, or pass .to_numpy() with one column for each "
        "class in label order."
    )
    return InvalidInput(
        f"the columns ({shown}) are not the classes {labels.preview()}: {what}.",
        field=field,
        hint=f"{hint} Classes that the data lack are declared in labels=.",
    )
