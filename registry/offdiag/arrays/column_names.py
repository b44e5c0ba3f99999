"""Column names of tables whose columns belong to labels: they must stand in label order."""

from __future__ import annotations

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput


def named_columns(table: object) -> LabelSet | None:
    """The names of a DataFrame's columns as labels; None without names, or for anything else."""
    names = [name for name in getattr(table, "columns", ()) if isinstance(name, str)]
    return LabelSet.declared(names) if names else None


def require_label_order(columns: LabelSet, labels: LabelSet, *, field: str) -> None:
    """Raise `InvalidInput` unless the columns are the labels, in their order."""
    if columns.names != labels.names:
        raise InvalidInput(
            f"the columns {columns.preview()} are not the labels {labels.preview()} "
            "in their order.",
            field=field,
            hint="Select the columns in label order.",
        )
