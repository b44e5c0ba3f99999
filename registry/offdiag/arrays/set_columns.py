"""Sets of labels of one argument of a call that logs them: recognised, named and packed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from offdiag.arrays.column_names import named_columns
from offdiag.arrays.label_sets import encode_sets
from offdiag.arrays.labels import Codes
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.multilabel.sets import nothing_known, pack_sets, with_room, without_room


def hold_sets(values: object) -> bool:
    """Whether cases have sets of labels here: a table, or a collection for each case.

    Only the first case that is there is looked at; whatever does not fit it is refused later.
    """
    n_axes = getattr(values, "ndim", None)
    shape = getattr(values, "shape", None)
    if n_axes == 2 or (isinstance(shape, tuple) and len(shape) == 2):
        return True
    kind = getattr(values, "type", None)
    if isinstance(kind, pa.DataType):
        return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return False
    if iter(values) is values:
        return False  # Looking would use it up; labels may come from a generator, sets may not.
    first = next((item for item in values if item is not None), None)
    return _is_collection(first)


def _is_collection(item: Any) -> bool:
    if isinstance(item, (str, bytes, Mapping)) or getattr(item, "shape", None) == ():
        return False
    return isinstance(item, Iterable)


def infer_set_labels(*, y_true: object, y_pred: object) -> LabelSet:
    """The sorted labels that the sets name, marked as inferred; or those of named columns.

    Raises `InvalidInput` for tables whose columns have no names.
    """
    found = encode_sets(y_true=y_true, y_pred=y_pred).labels
    if not found.inferred and not any(map(named_columns, (y_true, y_pred))):
        raise InvalidInput(
            "the columns of the table have no names.",
            field="labels",
            hint="Name the labels in the order of the columns: labels=[...].",
        )
    return found


def pack_pair(*, y_true: object, y_pred: object, labels: LabelSet) -> tuple[Codes, Codes]:
    """Packed true and predicted sets of the same n cases. Raises as `encode_sets` does."""
    found = encode_sets(y_true=y_true, y_pred=y_pred, labels=labels)
    return pack_sets(found.actual), pack_sets(found.predicted)


def pack_column(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Packed sets of one argument. Raises `InvalidInput` naming `field` as `encode_sets` does."""
    try:
        return pack_sets(encode_sets(y_true=values, y_pred=values, labels=labels).actual)
    except InvalidInput as error:
        if error.field != "y_true":
            raise
        raise InvalidInput(error.message, field=field, hint=error.hint) from None


def pack_partial_column(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Packed sets of samples, those that are None or NaN unknown. Raises `InvalidInput`."""
    if getattr(values, "ndim", None) == 2:
        return pack_column(values, labels, field=field)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return pack_column(values, labels, field=field)
    items = values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else list(values)
    present = [item for item in items if not _is_missing(item)]
    bits = nothing_known(len(items), len(labels)).astype(np.uint8)
    if present:
        known = np.array([not _is_missing(item) for item in items])
        packed = pack_column(present, labels, field=field).astype(np.uint8)
        bits[known] = with_room(packed, len(labels))
    return without_room(bits, len(labels))


def _is_missing(item: object) -> bool:
    return item is None or (isinstance(item, float) and item != item)  # noqa: PLR0124 - NaN
