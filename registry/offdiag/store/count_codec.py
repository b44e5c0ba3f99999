"""Counts of cases as bytes: a matrix of classes, or the tally of sets of labels."""

from __future__ import annotations

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.counted import CaseCounts, Counted, CountedSets, counted
from offdiag.metrics.multilabel.tally import SetTally, tally_numbers, tally_of_numbers
from offdiag.store import codec

_TALLY = 5
"""The layout of a tally, beside those of `codec`."""
_LAYOUT_AT = 1
"""Where the layout stands in a header."""


def encode_case_counts(counts: CaseCounts) -> bytes:
    """Counts of either kind; those of sets as whole numbers in the narrowest type."""
    if not isinstance(counts, SetTally):
        return codec.encode_counts(counts)
    numbers = tally_numbers(counts)
    narrow = np.min_scalar_type(int(numbers.max(initial=0))).newbyteorder("<")
    return codec.header(_TALLY, len(numbers)) + numbers.astype(narrow).tobytes()


def decode_case_counts(data: codec.Buffer, n_classes: int) -> CaseCounts:
    """Counts again. Raises `ValueError` for bytes that encoding cannot have written."""
    if len(data) <= _LAYOUT_AT or data[_LAYOUT_AT] != _TALLY:
        return codec.decode_counts(data, n_classes)
    _, n, body = codec.opened(data, _TALLY)
    width = len(body) // n if n else 0
    if width not in (1, 2, 4, 8) or width * n != len(body):
        raise ValueError(f"{len(body)} bytes are not {n} whole numbers.")
    numbers = np.frombuffer(body, dtype=f"<u{width}")
    return tally_of_numbers(numbers.astype(np.int64), n_classes)


def encode_counted(found: Counted) -> bytes:
    """What an evaluation was computed from, without the names of the labels."""
    if isinstance(found, CountedSets):
        return encode_case_counts(found.tally)
    return codec.encode_counts(found.counts)


def decode_counted(data: codec.Buffer, labels: LabelSet) -> Counted:
    """The same again. Raises `ValueError` as `decode_case_counts` does."""
    return counted(decode_case_counts(data, len(labels)), labels)
