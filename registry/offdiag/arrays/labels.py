"""Label arrays turned into codes of a label set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offdiag.arrays.columns import Column, to_column
from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput

Codes = NDArray[np.unsignedinteger[Any]]
"""Positions in a label set, in the narrowest unsigned type that holds them, shape (n,).

Where a dataset has sets of labels, the packed sets of its cases stand in their place: bytes of
shape (n, bytes), as `offdiag.metrics.multilabel.packing` lays them out.
"""

_LARGEST_TABLE = 1 << 20
"""Integer labels within this range are looked up in a table, wider ones by bisection."""


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """Actual and predicted classes of the same n cases as codes of one label set."""

    actual: Codes
    predicted: Codes
    labels: LabelSet


def code_dtype(n_classes: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The narrowest little-endian unsigned type that holds codes below `n_classes`."""
    if n_classes <= 1 << 8:
        return np.dtype("u1")
    return np.dtype("<u2") if n_classes <= 1 << 16 else np.dtype("<u4")


def encode_pair(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
) -> EncodedPair:
    """Encode both arrays with the declared labels, or with the labels found in either.

    Raises `InvalidInput` for empty arrays, unequal lengths, missing values, floats, and
    labels that were not declared, naming the first offending index.
    """
    actual = _label_column(y_true, "y_true")
    predicted = _label_column(y_pred, "y_pred")
    require_equal_lengths(y_true=len(actual), y_pred=len(predicted))
    if labels is None:
        if ordinal:
            raise InvalidInput(
                "an order was claimed but no labels were declared.",
                field="ordinal",
                hint="Give labels= in their order.",
            )
        known = LabelSet.inferred_from(
            [*_distinct(actual, "y_true"), *_distinct(predicted, "y_pred")]
        )
    elif isinstance(labels, LabelSet):
        known = labels
    else:
        known = LabelSet.declared(labels, ordinal=ordinal)
    return EncodedPair(_codes(actual, known, "y_true"), _codes(predicted, known, "y_pred"), known)


def encode_labels(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Codes of one array. Raises `InvalidInput` as `encode_pair` does."""
    column = _label_column(values, field)
    if len(column) == 0:
        raise _empty(field)
    return _codes(column, labels, field)


def infer_labels(*arrays: tuple[str, object]) -> LabelSet:
    """The sorted labels that occur in the named arrays, marked as inferred."""
    found = [
        name for field, values in arrays for name in _distinct(_label_column(values, field), field)
    ]
    if not found:
        raise _empty(arrays[0][0])
    return LabelSet.inferred_from(found)


def require_equal_lengths(**lengths: int) -> None:
    """Raise `InvalidInput` unless all named arrays have the same, non-zero length."""
    (first, expected), *others = lengths.items()
    if expected == 0:
        raise _empty(first)
    for name, length in others:
        if length != expected:
            raise InvalidInput(
                f"{first} has {expected} values, {name} has {length}.",
                field=name,
                hint="Give one value for each case in every array.",
            )


def _empty(field: str) -> InvalidInput:
    return InvalidInput("there are no values.", field=field, hint="Log at least one prediction.")


def _label_column(values: object, field: str) -> Column:
    column = to_column(values, field=field)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f" and len(column):
        missing = np.flatnonzero(np.isnan(column))
        if missing.size:
            raise InvalidInput(
                f"the value at index {int(missing[0])} is missing (NaN).",
                field=field,
                hint="Drop the case or fill in its label.",
            )
        label_text(column[0], field_name=field)
    return column


def _distinct(column: Column, field: str) -> list[str]:
    if isinstance(column, np.ndarray):
        return [str(value) for value in _distinct_values(column)]
    if pa.types.is_dictionary(column.type):
        used = pc.unique(column.indices)
        column = column.dictionary.take(used)
    return [label_text(name, field_name=field) for name in pc.unique(column).to_pylist()]


def _distinct_values(column: NDArray[Any]) -> list[Any]:
    """In ascending order. Class numbers lie close together, so marking them needs no sorting."""
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < _LARGEST_TABLE:
            seen = np.zeros(high - low + 1, dtype=np.bool_)
            seen[_above(column, low)] = True
            return [low + int(place) for place in np.flatnonzero(seen)]
    found: list[Any] = np.unique(column).tolist()
    return found


def _above(column: NDArray[Any], low: int) -> NDArray[np.int64]:
    """How far whole numbers lie above `low`, of which none is below it."""
    if column.dtype == np.uint64:  # Some have no int64; their differences do.
        return (column - np.uint64(low)).astype(np.int64)
    whole = column.astype(np.int64, copy=False)
    return whole if low == 0 else whole - low


def _codes(column: Column, labels: LabelSet, field: str) -> Codes:
    narrowest = code_dtype(len(labels))
    if isinstance(column, np.ndarray):
        found = _codes_of_numbers(column, labels)
    elif pa.types.is_dictionary(column.type):
        table = _codes_of_text(column.dictionary, labels)
        places = column.indices.to_numpy(zero_copy_only=False)
        if np.array_equal(table, np.arange(len(labels))):
            # Whoever writes the labels of the run as the dictionary has counted as it does.
            codes: Codes = places.astype(narrowest)
            return codes
        found = table[places]
    else:
        found = _codes_of_text(column, labels)
    unknown = found < 0
    if unknown.any():
        index = int(np.argmax(unknown))
        value = column[index]
        text = str(value.item()) if isinstance(value, np.generic) else value.as_py()
        raise InvalidInput(
            f"the value {text!r} at index {index} is not one of the {len(labels)} labels "
            f"{labels.preview()}.",
            field=field,
            hint="Declare it in labels= or correct the data.",
        )
    return found.astype(narrowest)


def _codes_of_text(column: pa.Array, labels: LabelSet) -> NDArray[np.int32]:
    known = pa.array(labels.names, type=column.type)
    found: NDArray[np.int32] = pc.fill_null(pc.index_in(column, value_set=known), -1).to_numpy()
    return found


def _codes_of_numbers(column: NDArray[Any], labels: LabelSet) -> NDArray[np.int32]:
    if column.dtype.kind == "b":
        table = np.array(
            [labels.index.get("False", -1), labels.index.get("True", -1)], dtype=np.int32
        )
        return table[column.astype(np.uint8)]
    known = {int(name): code for name, code in labels.index.items() if _is_whole(name)}
    if not known:
        return np.full(len(column), -1, dtype=np.int32)
    low, high = min(known), max(known)
    if high - low < _LARGEST_TABLE:
        return _by_table(column, known, low, high)
    ordered = np.array(sorted(known), dtype=np.int64)
    codes = np.array([known[int(value)] for value in ordered], dtype=np.int32)
    place = np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)
    return np.where(ordered[place] == column, codes[place], np.int32(-1))


def _by_table(
    column: NDArray[Any], known: dict[int, int], low: int, high: int
) -> NDArray[np.int32]:
    table = np.full(high - low + 1, -1, dtype=np.int32)
    for value, code in known.items():
        table[value - low] = code
    if len(column) and column.min() >= low and column.max() <= high:
        return table[_above(column, low)]
    inside = (column >= low) & (column <= high)
    places = np.where(inside, column, low).astype(np.int64) - low
    return np.where(inside, table[places], np.int32(-1))


def _is_whole(name: str) -> bool:
    body = name.removeprefix("-")
    return body.isascii() and body.isdigit() and len(body) < 19 and str(int(name)) == name
