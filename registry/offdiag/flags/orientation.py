"""F13: the margins of an uploaded matrix do not belong where they are said to."""

from __future__ import annotations

from offdiag.domain.orientation import OrientationEvidence, OrientationVerdict
from offdiag.flags.catalogue import RULES
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict

_AXIS_SAID_ACTUAL = {"actual_rows": "rows", "actual_columns": "columns"}


def orientation_verdict(evidence: OrientationEvidence) -> Verdict | None:
    """Flag a matrix whose margins contradict the orientation claimed for it.

    Two margins that both have the class counts prove nothing, but contradict nothing either;
    so do counts that nobody knows.
    """
    if evidence.class_counts is None or evidence.actual_margin is None:
        return None
    if evidence.verdict not in {OrientationVerdict.TRANSPOSED, OrientationVerdict.INCONSISTENT}:
        return None
    is_swapped = evidence.verdict is OrientationVerdict.TRANSPOSED
    off_actual = _classes_off(evidence.actual_margin, evidence.class_counts)
    off_predicted = _classes_off(evidence.predicted_margin or (), evidence.class_counts)
    claimed = _AXIS_SAID_ACTUAL.get(evidence.source.value, "rows")
    return Verdict(
        rule="F13",
        version=RULES["F13"].version,
        class_label=None,
        severity=Severity.CRITICAL if is_swapped else Severity.HIGH,
        message=_message(claimed, off_actual, is_swapped=is_swapped),
        evidence={
            "verdict": evidence.verdict.value,
            "claimed_orientation": evidence.source.value,
            "n": sum(evidence.actual_margin),
            "expected_n": sum(evidence.class_counts),
            "classes_off_actual_margin": off_actual,
            "classes_off_predicted_margin": off_predicted,
        },
        fired=(
            Condition(
                "classes whose actual margin differs from the dataset's count",
                float(off_actual),
                Sign.ABOVE,
                0.0,
                holds=True,
            ),
            Condition(
                "classes whose predicted margin differs from the dataset's count",
                float(off_predicted),
                Sign.EQUAL if is_swapped else Sign.ABOVE,
                0.0,
                holds=True,
            ),
        ),
        thresholds={},
    )


def _classes_off(margin: tuple[int, ...], counts: tuple[int, ...]) -> int:
    return sum(found != known for found, known in zip(margin, counts, strict=False))


def _message(claimed: str, off_actual: int, *, is_swapped: bool) -> str:
    other = {"rows": "columns", "columns": "rows"}[claimed]
    if is_swapped:
        return (
            f"The matrix was uploaded with actual classes along its {claimed}, but the class "
            f"counts of the dataset stand along its {other}: the axes look swapped, and with "
            f"them precision and recall."
        )
    return (
        f"Neither margin of the matrix has the class counts of the dataset; along the {claimed}, "
        f"said to be the actual classes, {off_actual} differ. It was made on other ground truth."
    )
