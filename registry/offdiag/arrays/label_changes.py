"""New labels for some samples, in the forms in which people hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.arrays.ids import SampleIds, require_distinct, sample_ids
from offdiag.arrays.labels import Codes, require_equal_lengths
from offdiag.arrays.partial_labels import encode_partial_labels
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput


@dataclass(frozen=True)
class LabelChanges:
    """m samples and the label each is to have: its code, or `n_classes` for none any more."""

    ids: SampleIds
    codes: Codes


def read_label_changes(given: object, labels: LabelSet) -> LabelChanges:
    """Read a mapping from identifiers to labels, a pair (identifiers, labels), or a table.

    A table is a frame of two columns, identifiers first. Samples without identifiers are named
    by their position, counted from 0. A missing label (None, NaN) takes the sample's label
    away. Raises `InvalidInput` for other forms, for no changes at all, for identifiers that
    stand twice, and for labels that are not in the set.
    """
    ids, values = _two_columns(given)
    identifiers = sample_ids(ids, field="labels")
    codes = encode_partial_labels(values, labels, field="labels")
    if len(identifiers) == 0 and len(codes) == 0:
        raise InvalidInput(
            "there are no changes.", field="labels", hint="Name at least one sample."
        )
    require_equal_lengths(identifiers=len(identifiers), labels=len(codes))
    require_distinct(identifiers, identifiers.order(), field="labels")
    return LabelChanges(identifiers, codes)


def _two_columns(given: object) -> tuple[object, object]:
    if isinstance(given, Mapping):
        return list(given.keys()), list(given.values())
    if isinstance(given, tuple) and len(given) == 2:
        return given
    names = getattr(given, "column_names", None) or getattr(given, "columns", None)
    if names is None or not hasattr(given, "__getitem__"):
        raise InvalidInput(
            f"{type(given).__name__} does not say which sample gets which label.",
            field="labels",
            hint="Give {id: label}, a pair (ids, labels), or a frame of these two columns.",
        )
    if len(names) != 2:
        raise InvalidInput(
            f"the table has {len(names)} columns.",
            field="labels",
            hint="Give two: identifiers and labels, in this order.",
        )
    first, second = names
    return given[first], given[second]
