"""Names of table columns, and of the values of a Series, where these are class names or labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput


def names_without_index(
    table: Any, labels: LabelSet | Iterable[object] | None, *, field: str
) -> LabelSet | None:
    """The column names of a table without an index, such as those of polars and pyarrow.

    None for anything else, and where columns are only numbered. Raises `InvalidInput` if `labels`
    are given and the names are not these in their order: nothing says what the rows are called.
    """
    columns = None if hasattr(table, "index") else named_columns(table)
    if columns is not None and labels is not None:
        require_label_order(
            columns,
            LabelSet.declared(labels),
            field=field,
            hint="Bring columns and rows into label order; a DataFrame of pandas names both.",
        )
    return columns


def named_columns(table: object) -> LabelSet | None:
    """The names of a table's columns as labels; None without names, or for anything else.

    Columns that are only numbered from 0, like those of a DataFrame made from an array, have none.
    """
    given = columns_of(table)
    names = [] if given is None else list(given)
    if not names or not all(isinstance(_plain(name), (str, int)) for name in names):
        return None
    if are_numbered(names) or names == [f"column_{place}" for place in range(len(names))]:
        return None
    return LabelSet.declared(names)


def columns_of(table: object) -> Any:
    """What a table calls its columns, None for anything else; Arrow calls its arrays columns."""
    names = getattr(table, "column_names", None)
    return getattr(table, "columns", None) if names is None else names


def are_numbered(names: Sequence[object]) -> bool:
    """Whether columns are called 0, 1 and so on in this order, as columns without names are."""
    return not isinstance(_plain(names[0]), bool) and list(names) == list(range(len(names)))


def by_label(values: Any, labels: LabelSet | None = None, *, field: str) -> Any:
    """A Series of pandas with a value for each class as a mapping from labels; others unchanged.

    So is one that is only numbered from 0, unless the labels are these numbers. Raises
    `InvalidInput` for a label that occurs twice.
    """
    if not (hasattr(type(values), "iloc") and getattr(values, "ndim", None) == 1):
        return values
    names = values.index.tolist()
    if len(set(names)) < len(names):
        raise InvalidInput(
            "its index has a label more than once.", field=field, hint="Name each class once."
        )
    is_without_names = not names or are_numbered(names)
    if is_without_names and (labels is None or set(map(str, names)) != set(labels.names)):
        return values
    return dict(zip(names, values.tolist(), strict=True))


def _plain(name: Any) -> object:
    """A numpy scalar as the Python one."""
    return name.item() if hasattr(name, "item") else name


def require_label_order(
    columns: LabelSet,
    labels: LabelSet,
    *,
    field: str,
    hint: str = "Select the columns in label order.",
) -> None:
    """Raise `InvalidInput` unless the columns are the labels, in their order."""
    if columns.names != labels.names:
        raise InvalidInput(
            f"the columns {columns.preview()} are not the labels {labels.preview()} "
            "in their order.",
            field=field,
            hint=hint,
        )
