"""Converting multi-label data of users (tables, sets, lists, texts) to indicator tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.column_names import named_columns, require_label_order
from offdiag.domain.labels import LabelSet, infer_label_set, label_text
from offdiag.domain.look_alikes import is_written_list
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import as_array, is_missing, kept, refuse_unordered
from offdiag.inputs.labels import Codes, hold_sets, refuse_score_table, require_equal_lengths
from offdiag.metrics.arguments import zero_one
from offdiag.metrics.multilabel.sets import (
    nothing_known,
    pack_sets,
    set_sizes,
    with_room,
    without_room,
)

_HINT = (
    "Give an (n, q) array of 0 and 1, or one set of labels for each sample; classes of pixels or "
    "tokens as array.ravel()."
)

Labels: TypeAlias = "list[object] | AbstractSet[object]"
Given: TypeAlias = "NDArray[Any] | list[Labels]"
"""A two-dimensional table, or the labels of each sample."""


@dataclass(frozen=True, slots=True)
class EncodedSets:
    """True and predicted sets of labels of the same n samples, for a label set of size q.

    Both arrays are bool (n, q), True if the label belongs to the set.
    """

    actual: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    labels: LabelSet


def encode_sets(
    *, y_true: object, y_pred: object, labels: LabelSet | Iterable[object] | None = None
) -> EncodedSets:
    """Encode both arguments with the declared labels, or with those found in the data.

    Each is an (n, q) table of 0 and 1 (array, DataFrame, sparse matrix, nested lists) in label
    order, or n collections of labels. Nested lists are read as a table if all rows of both
    arguments have one length (that of `labels`, if declared) and contain only 0 and 1; sets never
    are. If columns of a DataFrame have names, these are the labels.

    Raises `InvalidInput` for empty or unequal arguments, numbers other than 0 and 1, and labels
    that were not declared or occur twice in one set, naming the index of the sample.
    """
    if labels is not None and not isinstance(labels, LabelSet):
        labels = LabelSet.declared(labels)
    refuse_score_table(y_pred, field="y_pred")
    y_true, y_pred = kept(y_true), kept(y_pred)
    _refuse_single_labels(labels, y_true=y_true, y_pred=y_pred)
    known = _with_column_names(labels, y_true=y_true, y_pred=y_pred)
    true, predicted = _given(y_true, "y_true"), _given(y_pred, "y_pred")
    require_equal_lengths(y_true=len(true), y_pred=len(predicted))
    if _look_like_tables(true, predicted, known):
        true, predicted = np.asarray(true), np.asarray(predicted)
    if known is None:
        known = _inferred(true, predicted)
    return EncodedSets(
        _indicators(true, known, "y_true"), _indicators(predicted, known, "y_pred"), known
    )


def _refuse_single_labels(labels: LabelSet | None, *, y_true: object, y_pred: object) -> None:
    """Raise `InvalidInput` for single-label data in a table: one column, or one-hot rows."""
    for field, values, other, others in (
        ("y_true", y_true, "y_pred", y_pred),
        ("y_pred", y_pred, "y_true", y_true),
    ):
        shape: tuple[int, ...] = getattr(values, "shape", ())
        if len(shape) != 2:
            continue
        if shape[1] == 1 and (labels is None or len(labels) > 1):
            raise InvalidInput(
                f"it is a table of one column, of shape {tuple(shape)}.",
                field=field,
                hint="Give the column itself: array.ravel(), or frame['name']. Sets of a single "
                "label need labels=[...] with its name.",
            )
        if not hold_sets(others):
            raise InvalidInput(
                f"it is a table of {shape[1]} columns, and {other} has one label for each sample.",
                field=field,
                hint="Turn one-hot rows into classes, as with .argmax(axis=1); where samples have "
                "sets of labels, give both arguments that way.",
            )


def _given(values: object, field: str) -> Given:
    refuse_unordered(values, field=field)
    if hasattr(values, "toarray"):
        values = values.toarray()
    elif hasattr(values, "to_pylist") and not hasattr(values, "column_names"):
        values = values.to_pylist()
    array = as_array(values, field=field) if hasattr(values, "__array__") else None
    if array is not None and array.ndim == 2:
        # Columns of several types, or of nullable types, come as objects.
        is_of_numbers = array.dtype.kind == "O" and all(map(_is_number, array.flat))
        return array.astype(np.float64) if is_of_numbers else array
    if (array is not None and array.ndim != 1) or not _is_collection(values):
        shape = f"an array of shape {array.shape}" if array is not None else type(values).__name__
        raise InvalidInput(f"{shape} holds no sets of labels.", field=field, hint=_HINT)
    assert isinstance(values, Iterable)  # noqa: S101  # What _is_collection has just found.
    return [_members(item, index, field) for index, item in enumerate(values)]


def _is_collection(item: object) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping))


def _members(item: Any, index: int, field: str) -> Labels:
    if not _is_collection(item):
        raise InvalidInput.of_value(
            f"the value {item!r:.60}",
            index,
            "is not a set of labels.",
            field=field,
            hint="Give a set or list of labels for each sample, an empty one for none of them.",
        )
    return item if isinstance(item, AbstractSet) else list(item)


def _look_like_tables(true: Given, predicted: Given, labels: LabelSet | None) -> bool:
    """Whether both can be read as indicator tables of one width."""
    widths = {len(row) for given in (true, predicted) for row in given}
    if len(widths) != 1 or widths == {0} or (labels is not None and widths != {len(labels)}):
        return False
    return all(
        isinstance(given, np.ndarray)
        or all(isinstance(row, list) and all(map(_is_bit, row)) for row in given)
        for given in (true, predicted)
    )


def _is_bit(member: object) -> bool:
    return _is_number(member) and member in (0, 1)


def _is_number(member: object) -> bool:
    return isinstance(member, (int, float, np.number, np.bool_))


def _with_column_names(
    labels: LabelSet | None, *, y_true: object, y_pred: object
) -> LabelSet | None:
    """The labels, taken from or compared with the column names of tables."""
    found = labels
    for field, values in (("y_true", y_true), ("y_pred", y_pred)):
        columns = named_columns(values)
        if columns is not None:
            found = found or columns
            require_label_order(columns, found, field=field)
    if labels is None and found is not None:
        # If another frame's columns are 2, 1, 0, the numbers 0, 1, 2 are names too.
        numbers = LabelSet.numbered(len(found))
        for field, values in (("y_true", y_true), ("y_pred", y_pred)):
            is_frame = hasattr(values, "columns") and named_columns(values) is None
            if is_frame and set(found.names) == set(numbers.names):
                require_label_order(numbers, found, field=field)
    return found


def _inferred(true: Given, predicted: Given) -> LabelSet:
    if isinstance(true, np.ndarray) and isinstance(predicted, np.ndarray):
        return LabelSet.numbered(max(1, true.shape[1]))
    if isinstance(true, np.ndarray) or isinstance(predicted, np.ndarray):
        raise InvalidInput(
            "one argument is a table and the other holds sets, so the columns have no names.",
            field="labels",
            hint="Name the labels in the order of the columns.",
        )
    actual, answered = (
        {
            label if type(label) is str else label_text(label, field_name=field)
            for label in chain.from_iterable(sets)
        }
        for field, sets in (("y_true", true), ("y_pred", predicted))
    )
    if not actual and not answered:
        raise InvalidInput(
            "all sets are empty, so no label can be inferred.",
            field="labels",
            hint="Declare the labels that could have been assigned.",
        )
    return infer_label_set(("y_true", actual), ("y_pred", answered))


def _indicators(given: Given, labels: LabelSet, field: str) -> NDArray[np.bool_]:
    if isinstance(given, np.ndarray):
        if given.shape[1] != len(labels):
            raise InvalidInput(
                f"the table has {given.shape[1]} columns for {len(labels)} labels "
                f"{labels.preview()}.",
                field=field,
                hint="Give one column for each label, in label order.",
            )
        return zero_one(
            given, field=field, hint="Mark the labels of a sample with 1, others with 0."
        )
    size = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
    index = np.repeat(np.arange(len(given)), size)
    flat = list(chain.from_iterable(given))
    # Text is looked up directly; labels that are not found that way are checked one by one.
    find = labels.find
    codes = [find(label) if isinstance(label, str) else None for label in flat]
    if None in codes:
        codes = [
            _code(label, labels, case, field)
            for case, label in zip(index.tolist(), flat, strict=True)
        ]
    table = np.zeros((len(given), len(labels)), dtype=np.bool_)
    table[index, np.array(codes, dtype=np.int64)] = True
    _require_distinct(table, size, given, field)
    return table


def _require_distinct(
    table: NDArray[np.bool_], size: NDArray[np.int64], sets: list[Labels], field: str
) -> None:
    repeats = np.flatnonzero(set_sizes(table) < size)
    if repeats.size:
        index = int(repeats[0])
        names = [label_text(label) for label in sets[index]]
        doubled = next(name for name in names if names.count(name) > 1)
        raise InvalidInput.of_value(
            "the set",
            index,
            f"names {doubled!r} twice.",
            field=field,
            hint="Name each label of a sample once; 7 and '7' are the same label. If these are "
            "batches with one class per sample, join them, as numpy.concatenate does.",
        )


def _code(label: object, labels: LabelSet, index: int, field: str) -> int:
    text = label_text(label, field_name=field)
    code = labels.find(text)
    if code is None:
        raise InvalidInput.of_value(
            f"{text!r} in the set",
            index,
            f"is not one of the {len(labels)} labels {labels.preview()}.",
            field=field,
            hint=labels.way_out(text),
        )
    return code


def infer_set_labels(*, y_true: object, y_pred: object) -> LabelSet:
    """The sorted labels that occur in the sets, marked as inferred; or those of named columns.

    Raises `InvalidInput` for tables whose columns have no names.
    """
    found = encode_sets(y_true=y_true, y_pred=y_pred).labels
    if not found.inferred and not any(map(named_columns, (y_true, y_pred))):
        raise InvalidInput(
            "the columns of the table have no names.",
            field="labels",
            hint="Name the labels in the order of the columns: labels=[...]. Where each sample "
            "has one class, turn one-hot rows into classes, as with .argmax(axis=1).",
        )
    return found


def pack_pair(*, y_true: object, y_pred: object, labels: LabelSet) -> tuple[Codes, Codes]:
    """Packed true and predicted sets of the same n samples. Raises the same as `encode_sets`."""
    found = encode_sets(y_true=y_true, y_pred=y_pred, labels=labels)
    return pack_sets(found.actual), pack_sets(found.predicted)


def pack_column(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Packed sets of one argument. Raises `InvalidInput` naming `field`, as `encode_sets` does."""
    try:
        return pack_sets(encode_sets(y_true=values, y_pred=values, labels=labels).actual)
    except InvalidInput as error:
        if error.field == "y_true":
            error.field = field
        raise


def pack_partial_column(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Packed sets of samples, with missing ones as unknown. Raises `InvalidInput`."""
    import pyarrow as pa

    if getattr(values, "ndim", None) == 2:
        return pack_column(values, labels, field=field)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return pack_column(values, labels, field=field)
    items = values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else list(values)
    present = [item for item in items if not is_missing(item)]
    bits = nothing_known(len(items), len(labels)).astype(np.uint8)
    if present:
        known = np.flatnonzero([not is_missing(item) for item in items])
        try:
            packed = pack_column(present, labels, field=field).astype(np.uint8)
        except InvalidInput as error:
            if error.index is None:
                raise
            raise error.at(int(known[error.index])) from None
        bits[known] = with_room(packed, len(labels))
    return without_room(bits, len(labels))


BETWEEN = "|"
"""Separator of two labels of a set."""


def sets_of_texts(values: Any) -> list[list[Any] | None]:
    """The labels of each text; a blank one has none, a missing one stays missing.

    Lists, as in JSON lines, Parquet and Arrow, are sets already.

    Raises `InvalidInput` for an empty name, as behind the bar of `sea|`, and for a list that was
    written as text, which would otherwise be a single label.
    """
    import pyarrow as pa

    items: Iterable[object] = (
        values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else values
    )
    return [
        item if item is None or isinstance(item, list) else _members_of_text(str(item), index)
        for index, item in enumerate(items)
    ]


def _members_of_text(text: str, index: int) -> list[str]:
    if not text.strip():
        return []
    # PostgreSQL writes the names of a list without quotes.
    if is_written_list(text) or text.strip()[0] + text.strip()[-1] == "{}":
        raise InvalidInput.of_value(
            f"the set {text[:60]!r}",
            index,
            "is a list written as text.",
            field="labels",
            hint=f"Write labels with a {BETWEEN} between two, as sea|sky, and nothing for the "
            "empty set, or keep lists as lists, in JSON lines, Parquet or Arrow.",
        )
    names = [part.strip() for part in text.split(BETWEEN)]
    if "" in names:
        raise InvalidInput.of_value(
            f"the set {text[:60]!r}",
            index,
            "has a label without a name.",
            field="labels",
            hint=f"Write a {BETWEEN} between two labels only, and nothing for the empty set.",
        )
    return names


def set_text(labels: LabelSet, members: NDArray[np.bool_]) -> str:
    """A set as people read it: {sea, sky}. `members` (q,) says which labels it holds."""
    return "{" + ", ".join(set_members(labels, members)) + "}"


def set_members(labels: LabelSet, members: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names of the labels that a set holds, in label order."""
    return tuple(labels.names[code] for code in np.flatnonzero(members).tolist())
