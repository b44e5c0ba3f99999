"""Reading new labels for some samples, in the forms in which users have them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offdiag.domain.column_names import columns_of
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.files.tables import naming_lines, read_columns
from offdiag.inputs.ids import SampleIds, aligned, require_distinct, sample_ids
from offdiag.inputs.label_sets import pack_partial_column, sets_of_texts
from offdiag.inputs.labels import Codes, hold_sets, require_equal_lengths
from offdiag.inputs.partial_labels import blanks_as_missing, encode_partial_labels


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The names of the columns in a table of new labels."""

    id: str = "id"
    label: str = "label"


AS_USUAL = ColumnNames()


@dataclass(frozen=True)
class LabelChanges:
    """m samples and their new labels: codes, with `n_classes` for "no label any more".

    For multi-label samples, `codes` are packed sets.
    """

    ids: SampleIds
    codes: Codes


def read_label_changes(
    given: object, labels: LabelSet, names: ColumnNames = AS_USUAL, *, of_sets: bool = False
) -> LabelChanges:
    """Read a mapping from ids to labels, a pair (ids, labels), or a table.

    A table is a frame, or the path of a file in one of the formats of `read_columns`. Its columns
    are found by name; a frame of two columns may call them anything, ids first. Samples without
    ids are named by their position, counted from 0. A missing label (None, NaN, in a file an empty
    text that is not a class) removes the sample's label. With `of_sets` each sample gets a set or
    list, an empty one if no label is true; in a file the names in a set are separated by |.

    Raises `InvalidInput` for other forms, for no changes at all, for duplicate ids, and for
    unknown labels.
    """
    if isinstance(given, (str, os.PathLike)):
        with naming_lines(Path(given)):
            return _read(given, labels, names, of_sets=of_sets)
    return _read(given, labels, names, of_sets=of_sets)


def _read(given: object, labels: LabelSet, names: ColumnNames, *, of_sets: bool) -> LabelChanges:
    ids, values = _two_columns(given, labels, names)
    identifiers = sample_ids(ids, field="labels")
    codes = (
        pack_partial_column(_split(given, values), labels.kept(), field="labels")
        if of_sets
        else _encoded(values, labels.kept())
    )
    if len(identifiers) == 0 and len(codes) == 0:
        raise InvalidInput(
            "there are no changes.", field="labels", hint="Name at least one sample."
        )
    require_equal_lengths(identifiers=len(identifiers), labels=len(codes))
    require_distinct(identifiers, identifiers.order(), field="labels")
    return LabelChanges(identifiers, codes)


def _encoded(values: object, labels: LabelSet) -> Codes:
    if hold_sets(values):
        raise InvalidInput(
            "there are sets of labels, and each sample of the dataset has one class.",
            field="labels",
            hint="Give one class for each sample, or None to remove its label.",
        )
    return encode_partial_labels(values, labels, field="labels")


def _split(given: object, values: object) -> object:
    """The texts of a file as sets; anything else unchanged."""
    return sets_of_texts(values) if isinstance(given, (str, os.PathLike)) else values


def _two_columns(given: object, labels: LabelSet, names: ColumnNames) -> tuple[object, object]:
    if isinstance(given, Mapping):
        return list(given.keys()), list(given.values())
    if isinstance(given, tuple) and len(given) == 2:
        pair = aligned(identifiers=given[0], labels=given[1])
        return pair["identifiers"], pair["labels"]
    if isinstance(given, (str, os.PathLike)):
        found = read_columns(
            Path(given),
            [names.id, names.label],
            empty_text=[names.label],
            with_gaps=[names.label],
        )
        return found[names.id], blanks_as_missing(found[names.label], labels)
    return _of_frame(given, names)


def _of_frame(given: Any, names: ColumnNames) -> tuple[object, object]:
    present = columns_of(given)
    if present is None or not hasattr(given, "__getitem__"):
        raise InvalidInput(
            f"{type(given).__name__} does not say which sample gets which label.",
            field="labels",
            hint="Give {id: label}, a pair (ids, labels), a frame of these two columns, or the "
            "path of a table.",
        )
    columns = list(present)
    if columns.count(names.id) == columns.count(names.label) == 1:
        return given[names.id], given[names.label]
    if len(columns) != 2 or len(set(columns)) != 2:
        raise InvalidInput(
            f"the table has the columns {columns[:20]}.",
            field="labels",
            hint=f"Call them {names.id!r} and {names.label!r}, or give two: identifiers and "
            "labels, in this order.",
        )
    first, second = columns
    return given[first], given[second]
