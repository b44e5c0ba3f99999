"""Counts of sets as bytes: narrow, exact, and refused when they are none."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.counted import are_equal
from offdiag.metrics.multilabel.tally import tally_numbers, tally_sets
from offdiag.store.count_codec import decode_case_counts, encode_case_counts
from support.set_runs import random_sets

TALLY = tally_sets(*random_sets(50, 4))


def test_a_tally_comes_back_as_it_was() -> None:
    assert are_equal(decode_case_counts(encode_case_counts(TALLY), 4), TALLY)


def test_a_matrix_of_classes_keeps_its_own_form() -> None:
    counts = np.arange(9).reshape(3, 3)

    found = decode_case_counts(encode_case_counts(counts), 3)

    assert are_equal(found, counts)
    assert not are_equal(found, TALLY)


def test_small_numbers_take_a_byte_each() -> None:
    assert len(encode_case_counts(TALLY)) == 8 + len(tally_numbers(TALLY))


@pytest.mark.parametrize("cut", [1, 9, 40])
def test_torn_bytes_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"number|header"):
        decode_case_counts(encode_case_counts(TALLY)[:-cut], 4)


def test_counts_of_other_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="tally"):
        decode_case_counts(encode_case_counts(TALLY), 5)
