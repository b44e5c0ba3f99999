"""The axes, and what the margins of an uploaded matrix say about its orientation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.metrics.orientation import (
    actual_totals,
    predicted_totals,
    swap_axes,
    to_canonical,
    verify_orientation,
)

COUNTS = np.array([[8, 3], [1, 5]])


def test_margins_of_a_stack_belong_to_its_matrices() -> None:
    stack = np.stack([COUNTS, COUNTS * 10])

    assert actual_totals(stack).tolist() == [[11, 6], [110, 60]]
    assert predicted_totals(stack).tolist() == [[9, 8], [90, 80]]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64, object])
def test_margins_do_not_wrap_whatever_the_type(dtype: type) -> None:
    counts: NDArray[Any] = np.full((2, 2), 200).astype(dtype)

    assert actual_totals(counts).tolist() == [400, 400]
    assert predicted_totals(counts).tolist() == [400, 400]


def test_swapping_twice_gives_the_table_back() -> None:
    assert np.array_equal(swap_axes(swap_axes(COUNTS)), COUNTS)
    assert swap_axes(COUNTS).tolist() == [[8, 1], [3, 5]]


def test_only_actual_columns_are_swapped() -> None:
    as_rows = to_canonical(COUNTS, SourceOrientation.ACTUAL_ROWS)
    as_columns = to_canonical(COUNTS, SourceOrientation.ACTUAL_COLUMNS)

    assert np.array_equal(as_rows, COUNTS)
    assert np.array_equal(as_columns, swap_axes(COUNTS))


@pytest.mark.parametrize(
    ("class_counts", "verdict"),
    [
        ([11, 6], OrientationVerdict.CANONICAL),
        ([9, 8], OrientationVerdict.TRANSPOSED),
        ([10, 7], OrientationVerdict.INCONSISTENT),
        (None, OrientationVerdict.UNVERIFIED),
    ],
)
def test_the_margin_that_has_the_known_class_counts_decides(
    class_counts: Sequence[int] | None, verdict: OrientationVerdict
) -> None:
    evidence = verify_orientation(
        COUNTS, source=SourceOrientation.ACTUAL_ROWS, class_counts=class_counts
    )

    assert evidence.verdict is verdict
    assert evidence.actual_margin == (11, 6)
    assert evidence.predicted_margin == (9, 8)


def test_equal_margins_prove_nothing() -> None:
    evidence = verify_orientation(
        np.array([[8, 3], [3, 5]]), source=SourceOrientation.ACTUAL_ROWS, class_counts=[11, 8]
    )

    assert evidence.verdict is OrientationVerdict.AMBIGUOUS
