"""F13: margins that contradict the orientation claimed for a matrix."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag.domain.orientation import OrientationEvidence, SourceOrientation
from offdiag.flags.orientation import orientation_verdict
from offdiag.flags.verdict import Severity
from offdiag.metrics.orientation import verify_orientation

ROWS, COLUMNS = SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS
COUNTS = np.array([[8, 3, 8], [1, 17, 3], [5, 2, 7]])


def evidence(
    class_counts: tuple[int, ...] | None, source: SourceOrientation = ROWS
) -> OrientationEvidence:
    return verify_orientation(COUNTS, source=source, class_counts=class_counts)


@pytest.mark.parametrize(
    "class_counts", [(19, 21, 14), None], ids=["margins agree", "counts unknown"]
)
def test_a_matrix_that_contradicts_nothing_is_silent(
    class_counts: tuple[int, ...] | None,
) -> None:
    assert orientation_verdict(evidence(class_counts)) is None


def test_equal_margins_are_no_disagreement() -> None:
    balanced = np.array([[8, 2], [2, 8]])

    found = verify_orientation(balanced, source=ROWS, class_counts=(10, 10))

    assert orientation_verdict(found) is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (ROWS, "actual classes along its rows, but the class counts"),
        (COLUMNS, "actual classes along its columns, but the class counts"),
    ],
)
def test_counts_on_the_other_margin_mean_swapped_axes(
    source: SourceOrientation, words: str
) -> None:
    verdict = orientation_verdict(evidence((14, 22, 18), source))

    assert verdict is not None
    assert verdict.severity is Severity.CRITICAL
    assert words in verdict.message
    assert verdict.evidence["classes_off_actual_margin"] == 3
    assert verdict.evidence["classes_off_predicted_margin"] == 0
    assert all(condition.holds for condition in verdict.fired)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_counts_on_neither_margin_mean_other_ground_truth() -> None:
    verdict = orientation_verdict(evidence((19, 20, 14)))

    assert verdict is not None
    assert verdict.severity is Severity.HIGH
    assert verdict.evidence["expected_n"] == 53
    assert verdict.evidence["n"] == 54
    assert "made on other ground truth" in verdict.message
