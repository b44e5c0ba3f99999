"""Converting arrays of labels to codes of a label set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet, infer_label_set, label_text, not_classes
from offdiag.domain.texts import shortened
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import Column, as_array, to_column

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.unsignedinteger[Any]]
"""Positions in a label set, in the narrowest unsigned type that holds them, shape (n,).

For multi-label datasets they hold the packed sets of the samples instead: bytes of shape (n,
bytes), in the layout of `offdiag.metrics.multilabel.sets`.
"""

_LARGEST_TABLE = 1 << 20
"""Integer labels within this range are looked up in a table, wider ones by bisection."""


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """Labels of n samples, read once: whole numbers, booleans or text.

    `were_floats` says that they were given as floats, each a whole number.
    """

    values: Column
    were_floats: bool = False

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """Actual and predicted classes of the same n samples as codes of one label set.

    `whole_floats` names the arguments whose labels were given as floats.
    """

    actual: Codes
    predicted: Codes
    labels: LabelSet
    whole_floats: tuple[str, ...] = ()


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

    Raises `InvalidInput` for empty arrays, unequal lengths, missing values, numbers that are not
    whole, predictions that share no label with the true labels, and labels that were not declared,
    naming the first offending index.
    """
    actual = label_column(y_true, field="y_true")
    predicted = label_column(y_pred, field="y_pred")
    require_equal_lengths(y_true=len(actual), y_pred=len(predicted))
    if labels is None:
        if ordinal:
            raise order_of_no_labels()
        known = infer_labels(("y_true", actual), ("y_pred", predicted))
    elif isinstance(labels, LabelSet):
        known = labels
    else:
        known = LabelSet.declared(labels, ordinal=ordinal)
    return EncodedPair(
        encode_labels(actual, known, field="y_true"),
        encode_labels(predicted, known, field="y_pred"),
        known,
        floats_among(y_true=actual, y_pred=predicted),
    )


def encode_labels(
    values: object,
    labels: LabelSet,
    *,
    field: str,
    places: NDArray[np.int64] | None = None,
) -> Codes:
    """Codes of one array. Raises `InvalidInput` as `encode_pair` does.

    `places` are the indexes of the values among those that the user gave, if some were left out.
    """
    column = label_column(values, field=field).values
    if len(column) == 0:
        raise _empty(field)
    return _codes(column, labels, field, places)


def infer_labels(truth: tuple[str, object], *predictions: tuple[str, object]) -> LabelSet:
    """The sorted labels that occur in the named arrays, marked as inferred.

    Raises `InvalidInput` for predictions that share no label with the true labels.
    """
    found = [
        (field, _distinct(label_column(values, field=field).values, field))
        for field, values in (truth, *predictions)
    ]
    if not any(names for _, names in found):
        raise _empty(truth[0])
    return infer_label_set(*found)


def label_column(values: object, *, field: str) -> LabelColumn:
    """The labels of one argument, with whole floats as whole numbers.

    Columns that were already read are returned unchanged. Raises `InvalidInput` for missing
    values, and for numbers that are not whole, also in a table: these are scores, or no classes at
    all.
    """
    if isinstance(values, LabelColumn):
        return values
    refuse_score_table(values, field=field)
    column = to_column(values, field=field)
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return LabelColumn(column)
    missing = np.flatnonzero(np.isnan(column))
    if missing.size:
        raise InvalidInput(
            f"the value at index {int(missing[0])} is missing (NaN).",
            field=field,
            hint="Drop the sample or fill in its label.",
        )
    _require_whole(column, field, kind=_least_precise(values, column))
    return LabelColumn(column.astype(np.int64), were_floats=True)


def floats_among(**columns: LabelColumn) -> tuple[str, ...]:
    """The names of the columns whose labels were given as floats."""
    return tuple(name for name, column in columns.items() if column.were_floats)


def refuse_score_table(values: object, *, field: str) -> None:
    """Raise `InvalidInput` for a table of numbers that are not whole, nested or two-dimensional.

    A table of 0 and 1 is accepted: it holds the set of labels of each sample.
    """
    numbers = _table_of_floats(values, field)
    if numbers is None:
        return
    fractions = numbers[np.floor(numbers) != numbers]
    fractions = fractions[~np.isnan(fractions)]
    if fractions.size:
        n_distinct = np.unique(numbers).size
        raise not_classes(field, n_distinct=n_distinct, example=fractions[0].item())


def _table_of_floats(values: Any, field: str) -> NDArray[np.floating[Any]] | None:
    """The numbers of a table that holds floats, None for everything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = values
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        if not (pa.types.is_nested(values.type) and hasattr(values.type, "value_type")):
            return None
        if not pa.types.is_floating(values.type.value_type):
            return None
        table = pc.drop_null(pc.list_flatten(values)).to_numpy()
    elif isinstance(values, (list, tuple)):
        first = next(iter(values), None)
        if isinstance(first, (np.ndarray, np.generic)):
            row: Iterable[Any] = first.flat
        else:
            row = first if isinstance(first, (list, tuple)) else ()
        if not any(isinstance(item, (float, np.floating)) for item in row):
            return None
        try:
            table = np.array(values)
        except (TypeError, ValueError):
            return None  # Reading the values reports what is wrong with them.
    elif getattr(values, "ndim", None) != 2 or not hasattr(values, "__array__"):
        return None
    numbers = as_array(table, field=field)
    return numbers if numbers.dtype.kind == "f" else None


_SIGNIFICANT_BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def _least_precise(values: Any, column: NDArray[np.floating[Any]]) -> str:
    """The float type with the fewest bits among labels as given, which were read as `column`."""
    parts: list[object] = [column, values]
    is_sequence = isinstance(values, (list, tuple))
    is_mixed = is_sequence or str(getattr(values, "dtype", "")) == "object"
    # There may be millions, and Python numbers have no other type to look for.
    if is_mixed and not {*map(type, values)} <= {int, float}:
        parts.extend(values)
    kinds = {str(getattr(each, "dtype", "")).removeprefix("torch.") for each in parts}
    known = kinds & _SIGNIFICANT_BITS.keys()
    return min(known, key=_SIGNIFICANT_BITS.__getitem__, default="float64")


def _require_whole(column: NDArray[np.floating[Any]], field: str, *, kind: str) -> None:
    broken = (np.floor(column) != column) | np.isinf(column)
    if broken.any():
        example = column[int(np.argmax(broken))].item()
        raise not_classes(field, n_distinct=np.unique(column).size, example=example)
    # From here on the type cannot represent every whole number, and two labels may become one.
    merged = np.abs(column) >= 2.0 ** _SIGNIFICANT_BITS[kind]
    if merged.any():
        index = int(np.argmax(merged))
        raise InvalidInput(
            f"{int(column[index])} at index {index} is a {kind}, and such floats do not "
            "hold every whole number of that size.",
            field=field,
            hint="Give the labels as integers, from before they became floats.",
        )


def require_equal_lengths(**lengths: int) -> None:
    """Raise `InvalidInput` unless all named arrays have the same, non-zero length."""
    (first, expected), *others = lengths.items()
    if expected == 0:
        raise _empty(first)
    for name, length in others:
        if length != expected:
            values = "value" if expected == 1 else "values"
            raise InvalidInput(
                f"{first} has {expected} {values}, {name} has {length}.",
                field=name,
                hint="Give one value for each sample in every array.",
            )


def _empty(field: str) -> InvalidInput:
    return InvalidInput("there are no values.", field=field, hint="Log at least one prediction.")


def _distinct(column: Column, field: str) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, np.ndarray):
        return [str(value) for value in _distinct_values(column)]
    if pa.types.is_dictionary(column.type):
        used = pc.unique(column.indices)
        column = column.dictionary.take(used)
    return [label_text(name, field_name=field) for name in pc.unique(column).to_pylist()]


def _distinct_values(column: NDArray[Any]) -> list[Any]:
    """Distinct values in ascending order.

    Class numbers are close together, so they are marked in a table instead of sorted.
    """
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < _LARGEST_TABLE:
            seen = np.zeros(high - low + 1, dtype=np.bool_)
            seen[_above(column, low)] = True
            return [low + int(place) for place in np.flatnonzero(seen)]
    found: list[Any] = np.unique(column).tolist()
    return found


def _above(column: NDArray[Any], low: int) -> NDArray[np.int64]:
    """How far whole numbers are above `low`; numbers below it give unusable values."""
    if column.dtype == np.uint64:  # Some do not fit int64; their differences do.
        return (column - np.uint64(low)).astype(np.int64)
    whole = column.astype(np.int64, copy=False)
    return whole if low == 0 else whole - low


def _codes(
    column: Column, labels: LabelSet, field: str, given_at: NDArray[np.int64] | None = None
) -> Codes:
    import pyarrow as pa

    narrowest = code_dtype(len(labels))
    if isinstance(column, np.ndarray):
        found = _codes_of_numbers(column, labels)
    elif pa.types.is_dictionary(column.type):
        table = _codes_of_text(column.dictionary, labels)
        places = column.indices.to_numpy(zero_copy_only=False)
        if np.array_equal(table, np.arange(len(labels))):
            # The dictionary is in label order, so its indices are the codes.
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
        place = index if given_at is None else int(given_at[index])
        raise InvalidInput.of_value(
            f"the value {shortened(text, longest=60)!r}",
            place,
            f"is not one of the {len(labels)} labels {labels.preview()}.",
            field=field,
            hint=labels.way_out(text),
        )
    return found.astype(narrowest)


def _codes_of_text(column: pa.Array, labels: LabelSet) -> NDArray[np.int32]:
    # The two truth values have other names too; their codes follow in the same order.
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array([*labels.names, *labels.other_names], type=column.type)
    found: NDArray[np.int32] = pc.fill_null(pc.index_in(column, value_set=known), -1).to_numpy()
    if labels.other_names:
        codes = np.array([0, 1, *labels.other_names.values(), -1], dtype=np.int32)
        return codes[found]
    return found


def _codes_of_numbers(column: NDArray[Any], labels: LabelSet) -> NDArray[np.int32]:
    if column.dtype.kind == "b":
        truth_values = [labels.find(name) for name in ("False", "True")]
        table = np.array([-1 if code is None else code for code in truth_values], dtype=np.int32)
        return table[column.astype(np.uint8)]
    names = {**labels.index, **labels.other_names}
    limits = np.iinfo(np.uint64 if column.dtype == np.uint64 else np.int64)
    numbers = {int(name): code for name, code in names.items() if _is_whole(name)}
    known = {n: code for n, code in numbers.items() if limits.min <= n <= limits.max}
    if not known:
        return np.full(len(column), -1, dtype=np.int32)
    low, high = min(known), max(known)
    if high - low < _LARGEST_TABLE:
        return _by_table(column, known, low, high)
    ordered = np.array(sorted(known), dtype=limits.dtype)
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
    # A narrow type may not hold `low`, so values outside the range get their place afterwards.
    places = np.where(inside, _above(column, low), 0)
    return np.where(inside, table[places], np.int32(-1))


def _is_whole(name: str) -> bool:
    body = name.removeprefix("-")
    return body.isascii() and body.isdigit() and len(body) <= 20 and str(int(name)) == name


def order_of_no_labels() -> InvalidInput:
    """The error for an order that was claimed without declaring labels."""
    return InvalidInput(
        "an order was claimed but no labels were declared.",
        field="ordinal",
        hint="Give labels= in their order.",
    )


def hold_sets(values: object) -> bool:
    """Whether the values are multi-label: a table, or a collection for each sample.

    Only the first sample that is not missing is checked; others that do not fit are refused later.
    """
    import pyarrow as pa

    n_axes = getattr(values, "ndim", None)
    shape = getattr(values, "shape", None)
    if n_axes == 2 or (isinstance(shape, tuple) and len(shape) == 2):
        return True
    kind = getattr(values, "type", None)
    if isinstance(kind, pa.DataType):
        return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return False
    if n_axes == 0:
        return False  # It has no items, although its type is iterable.
    if iter(values) is values:
        return False  # Looking would consume it; a generator may give labels, but not sets.
    first = next((item for item in values if item is not None), None)
    return _is_set_like(first)


def _is_set_like(item: Any) -> bool:
    if isinstance(item, (str, bytes, Mapping)) or getattr(item, "shape", None) == ():
        return False
    return isinstance(item, Iterable)
