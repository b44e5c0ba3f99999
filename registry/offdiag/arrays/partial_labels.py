"""Labels of which some are not known yet.

A sample without a label has the code that follows the last class. So an array of actual classes
stays one array of codes, and counting drops one class instead of looking at every case.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from offdiag.arrays.columns import to_column_with_gaps
from offdiag.arrays.labels import Codes, code_dtype, encode_labels
from offdiag.domain.labels import LabelSet


def encode_partial_labels(values: object, labels: LabelSet, *, field: str) -> Codes:
    """Codes of n labels, `len(labels)` where one is missing, shape (n,).

    Raises `InvalidInput` for labels that are not in the set and for values that are none.
    """
    present, missing = to_column_with_gaps(values, field=field)
    n_classes = len(labels)
    codes = np.full(len(missing), n_classes, dtype=code_dtype(n_classes + 1))
    if len(present):
        codes[~missing] = encode_labels(present, labels, field=field)
    return in_narrowest_type(codes, n_classes)


def blanks_as_missing(values: pa.Array | list[object], labels: LabelSet) -> object:
    """A column of a file with empty texts as missing, unless that is one of the classes."""
    if "" in labels.index:
        return values
    if isinstance(values, list):
        return [None if value == "" else value for value in values]
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    return pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)


def nothing_labelled(n_samples: int, n_classes: int) -> Codes:
    """The codes of samples of which none has a label."""
    return np.full(n_samples, n_classes, dtype=code_dtype(n_classes + 1))


def in_narrowest_type(codes: Codes, n_classes: int) -> Codes:
    """The same codes in the type that equal content always has: digests are taken of bytes."""
    is_partial = bool((codes == n_classes).any())
    return codes.astype(code_dtype(n_classes + is_partial), copy=False)


def count_labelled(codes: Codes, n_classes: int) -> int:
    """How many samples have a label."""
    return int(np.count_nonzero(codes < n_classes))
