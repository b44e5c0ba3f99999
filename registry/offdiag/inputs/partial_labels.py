"""Labels of which some are not known yet.

A sample without a label has the code after the last class. So an array of actual classes remains
one array of codes, and counting drops one class instead of checking every sample. In packed sets
of multi-label samples, the bit after the last label says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.inputs.columns import to_column_with_gaps
from offdiag.inputs.labels import Codes, code_dtype, encode_labels
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel import sets
from offdiag.metrics.multilabel.sets import LABEL_AXIS

if TYPE_CHECKING:
    import pyarrow as pa


def encode_partial_labels(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Codes of n labels, `len(labels)` for missing ones, shape (n,).

    Raises `InvalidInput` for unknown and invalid labels.
    """
    present, missing = to_column_with_gaps(values, field=field)
    n_classes = len(labels)
    codes = np.full(len(missing), n_classes, dtype=code_dtype(n_classes + 1))
    if isinstance(present, np.ndarray) and present.dtype.kind == "f":
        for fraction in present[np.floor(present) != present][:1]:
            # Reported as an unknown label: a fraction among corrected labels cannot be a score.
            labels.code_of(str(fraction), field_name=field)
    if len(present):
        codes[~missing] = encode_labels(
            present, labels, field=field, places=np.flatnonzero(~missing)
        )
    return in_narrowest_type(codes, n_classes)


def blanks_as_missing(values: pa.Array | list[object], labels: LabelSet) -> object:
    """A column of a file with empty texts as missing, unless the empty text is a class."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "" in labels.index:
        return values
    if isinstance(values, list):
        return [None if value == "" else value for value in values]
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    return pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)


def nothing_labelled(n_samples: int, n_classes: int, *, of_sets: bool = False) -> Codes:
    """The codes, or packed sets, of samples without any labels."""
    if of_sets:
        return sets.nothing_known(n_samples, n_classes)
    return np.full(n_samples, n_classes, dtype=code_dtype(n_classes + 1))


def in_narrowest_type(codes: Codes, n_classes: int) -> Codes:
    """The same codes in the type that equal content always has: digests are over bytes."""
    if are_sets(codes):
        return sets.without_room(codes.astype(np.uint8, copy=False), n_classes)
    is_partial = bool((codes == n_classes).any())
    return codes.astype(code_dtype(n_classes + is_partial), copy=False)


def is_labelled(codes: Codes, n_classes: int) -> NDArray[np.bool_]:
    """Which of the samples have a label, or a set of labels, which may be empty, shape (n,)."""
    if are_sets(codes):
        return sets.is_known(codes.astype(np.uint8, copy=False), n_classes)
    return np.asarray(codes < n_classes)


def count_labelled(codes: Codes, n_classes: int) -> int:
    """How many samples have a label."""
    return int(np.count_nonzero(is_labelled(codes, n_classes)))


def count_classes(codes: Codes, n_classes: int) -> NDArray[np.int64]:
    """Labelled samples of each class, or with each label in their set, shape (n_classes,)."""
    if are_sets(codes):
        return sets.label_counts(codes.astype(np.uint8, copy=False), n_classes)
    return np.bincount(codes, minlength=n_classes)[:n_classes].astype(np.int64)


def differ(one: Codes, other: Codes, n_classes: int) -> NDArray[np.bool_]:
    """Which of the same n samples are labelled differently, shape (n,)."""
    if are_sets(one):
        pair = [sets.with_room(each.astype(np.uint8), n_classes) for each in (one, other)]
        return np.asarray((pair[0] != pair[1]).any(axis=LABEL_AXIS))
    return np.asarray(one != other)


def are_single_labels(codes: Codes, n_classes: int) -> bool:
    """Whether these are sets, all of them known and with exactly one label."""
    if not are_sets(codes) or not is_labelled(codes, n_classes).all():
        return False
    return sets.are_of_one_label(codes.astype(np.uint8, copy=False))


def in_roomy_rows(codes: Codes, n_classes: int) -> Codes:
    """Packed sets in rows of one width, whether all are known or not; codes unchanged."""
    if are_sets(codes):
        return sets.with_room(codes.astype(np.uint8, copy=False), n_classes)
    return codes


def replaced(codes: Codes, places: NDArray[np.int64], by: Codes, n_classes: int) -> Codes:
    """The codes of n samples with those at some places replaced, in the narrowest type."""
    if are_sets(codes):
        after = sets.with_room(codes.astype(np.uint8), n_classes).copy()
        after[places] = sets.with_room(by.astype(np.uint8), n_classes)
    else:
        after = codes.astype(np.promote_types(codes.dtype, by.dtype))
        after[places] = by
    return in_narrowest_type(after, n_classes)


def masked(codes: Codes, members: NDArray[np.bool_], n_classes: int) -> Codes:
    """The codes of n samples, with those that are not members as if they had no label."""
    none = nothing_labelled(len(codes), n_classes, of_sets=are_sets(codes))
    if are_sets(codes):
        known = sets.with_room(codes.astype(np.uint8, copy=False), n_classes)
        return np.where(members[:, np.newaxis], known, none)
    return np.where(members, codes, none)
