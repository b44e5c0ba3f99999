"""F13: margins that contradict the orientation claimed for a matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from offdiag.comparison.pair import compare_paired
from offdiag.comparison.pair_verdict import classes_that_change
from offdiag.domain.orientation import OrientationEvidence, SourceOrientation
from offdiag.flags.rules.reference import PairedRecall, orientation_verdict, regression_verdicts
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity, Verdict
from offdiag.metrics.orientation import verify_orientation
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from support.matrices import numbered_labels

ROWS, COLUMNS = SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS
COUNTS = np.array([[8, 3, 8], [1, 17, 3], [5, 2, 7]])


def evidence(
    class_counts: tuple[int, ...] | None, source: SourceOrientation = ROWS
) -> OrientationEvidence:
    return verify_orientation(COUNTS, source=source, class_counts=class_counts)


@pytest.mark.parametrize(
    "class_counts", [(19, 21, 14), None], ids=["margins agree", "counts unknown"]
)
def test_a_matrix_that_contradicts_nothing_is_silent(class_counts: tuple[int, ...] | None) -> None:
    assert orientation_verdict(evidence(class_counts)) is None


def test_equal_margins_are_no_disagreement() -> None:
    balanced = np.array([[8, 2], [2, 8]])

    found = verify_orientation(balanced, source=ROWS, class_counts=(10, 10))

    assert orientation_verdict(found) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            ROWS,
            "Column totals, not row totals, match the class counts: the matrix looks transposed.",
        ),
        (
            COLUMNS,
            "Row totals, not column totals, match the class counts: the matrix looks transposed.",
        ),
    ],
)
def test_counts_on_the_other_margin_mean_swapped_axes(
    source: SourceOrientation, message: str
) -> None:
    verdict = orientation_verdict(evidence((14, 22, 18), source))

    assert verdict is not None
    assert verdict.severity is Severity.CRITICAL
    assert verdict.message == message
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
    assert verdict.message == (
        "Neither margin matches the class counts (1 class of the actual margin differs): the "
        "matrix was computed on other labels."
    )


def regressions(joint: JointCounts, **options: Any) -> tuple[Verdict, ...]:
    return regression_verdicts(PairedRecall.of(joint), **options)


def two_runs_on_class_1(*, both: int, lost: int, won: int, neither: int = 0) -> JointCounts:
    """A hundred easy cases of class 0, and cases of class 1 by who finds them."""
    easy = 100
    sizes = (easy, both, lost, won, neither)
    return joint_counts(
        actual=np.repeat([0, 1, 1, 1, 1], sizes),
        first=np.repeat([0, 1, 1, 0, 0], sizes),
        second=np.repeat([0, 1, 0, 1, 0], sizes),
        labels=numbered_labels(2),
    )


def test_a_significant_loss_names_both_recalls_and_the_cases_behind_them() -> None:
    joint = two_runs_on_class_1(both=30, lost=12, won=1, neither=7)

    (verdict,) = regressions(joint, baseline="v1")

    assert (verdict.rule, verdict.class_label, verdict.severity) == ("F14", "1", Severity.HIGH)
    assert verdict.evidence["baseline_recall"] == pytest.approx(42 / 50)
    assert verdict.evidence["recall"] == pytest.approx(31 / 50)
    assert verdict.evidence["drop"] == pytest.approx(0.22)
    assert verdict.evidence["p"] == pytest.approx(2 * 14 / 2**13)
    assert verdict.evidence["is_minority"] is True
    low, high = verdict.evidence["drop_low"], verdict.evidence["drop_high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 0 < low < 0.22 < high
    drop, p = verdict.fired
    assert (drop.threshold, p.threshold) == (0.02, 0.05)
    # The other class has no changed case, so Holm doubles the mid-p of this one.
    mid_p = verdict.evidence["mid_p"]
    assert isinstance(mid_p, float)
    assert verdict.evidence["p_adjusted"] == pytest.approx(2 * mid_p)
    assert p.measured == pytest.approx(2 * mid_p)
    assert verdict.message == (
        f"Recall of '1' fell from 84 % to 62 % against 'v1' (CI {-100 * high:.0f} to "
        f"{-100 * low:.0f} points, McNemar p = {2 * mid_p:.2g})."
    )
    assert (verdict.evidence["lost"], verdict.evidence["won"]) == (12, 1)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_pairing_decides_and_not_the_difference_alone() -> None:
    """The same drop of four cases: by four losses it is luck, so it is by fourteen and ten."""
    assert not regressions(two_runs_on_class_1(both=40, lost=4, won=0, neither=6), baseline="v1")
    assert not regressions(two_runs_on_class_1(both=20, lost=14, won=10, neither=6), baseline="v1")
    assert regressions(two_runs_on_class_1(both=35, lost=9, won=0, neither=6), baseline="v1")


def test_a_small_loss_on_many_cases_is_significant_but_too_small() -> None:
    joint = two_runs_on_class_1(both=9_900, lost=100, won=0)

    assert not regressions(joint, baseline="v1")
    (verdict,) = regressions(joint, baseline="v1", thresholds=Thresholds(regression_drop=0.01))
    assert verdict.severity is Severity.MEDIUM


def test_it_names_the_classes_that_a_comparison_names() -> None:
    """Seven losses and no win are enough for one class, and for two after Holm, not for twenty."""
    two = two_runs_on_class_1(both=40, lost=7, won=0)
    twenty = joint_counts(
        actual=np.concatenate([np.repeat([0, 1], [100, 47]), np.repeat(np.arange(2, 20), 30)]),
        first=np.concatenate([np.repeat([0, 1], [100, 47]), np.repeat(np.arange(2, 20), 30)]),
        second=np.concatenate(
            [np.repeat([0, 1, 0], [100, 40, 7]), np.repeat(np.arange(2, 20), 30)]
        ),
        labels=numbered_labels(20),
    )

    for joint, named in ((two, ["1"]), (twenty, [])):
        found = regressions(joint, baseline="v1")
        assert [verdict.class_label for verdict in found] == named
        assert list(classes_that_change(compare_paired(joint))[0]) == named


def test_a_gain_is_no_regression() -> None:
    joint = two_runs_on_class_1(both=30, lost=0, won=20)

    assert not regressions(joint, baseline="v1")


def test_identical_runs_are_silent() -> None:
    assert not regressions(two_runs_on_class_1(both=50, lost=0, won=0), baseline="v1")


def test_one_actual_class_is_not_judged() -> None:
    joint = joint_counts(
        actual=np.zeros(40, np.int64),
        first=np.zeros(40, np.int64),
        second=np.ones(40, np.int64),
        labels=numbered_labels(2),
    )

    assert regressions(joint, baseline="v1") == ()
