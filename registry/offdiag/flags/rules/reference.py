"""F13 and F14: a matrix compared with the labels of its dataset, and a run with its baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import count, interval_points, p_value, percents
from offdiag.domain.orientation import OrientationEvidence, OrientationVerdict
from offdiag.flags.catalogue import RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict
from offdiag.metrics.multilabel_runs.paired import PairedSets, label_rates
from offdiag.metrics.paired.class_changes import ClassChanges, recall_changes
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint_counts import JointCounts, PairedRates

_AXIS_SAID_ACTUAL = {"actual_rows": "rows", "actual_columns": "columns"}


def orientation_verdict(evidence: OrientationEvidence) -> Verdict | None:
    """Flag a matrix whose margins contradict the orientation stated for it.

    If both margins match the class counts, nothing is proved, but nothing contradicts the
    orientation either; the same holds for unknown counts.
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
    if is_swapped:
        said, other = {"rows": ("row", "Column"), "columns": ("column", "Row")}[claimed]
        return (
            f"{other} totals, not {said} totals, match the class counts: "
            f"the matrix looks transposed."
        )
    return (
        f"Neither margin matches the class counts ({count(off_actual, 'class', 'classes')} "
        f"of the actual margin {'differs' if off_actual == 1 else 'differ'}): the matrix was "
        f"computed on other labels."
    )


USES = ("regression_drop", "regression_drop_high", "regression_alpha", "minority_share")
"""The thresholds that decide F14."""


@dataclass(frozen=True)
class PairedRecall:
    """The recall of K classes or labels under two runs: hits (K,), and hits of one run only."""

    names: tuple[str, ...]
    rates: PairedRates
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    @classmethod
    def of(cls, pair: JointCounts | PairedSets) -> PairedRecall:
        if isinstance(pair, PairedSets):
            first, second = (each.correct for each in pair.counted)
            return cls(pair.labels.names, label_rates(pair).hits, first, second)
        first, second = pair.first_matrix.correct, pair.second_matrix.correct
        return cls(pair.labels.names, pair.hits, first, second)


def regression_verdicts(
    pair: PairedRecall, *, baseline: str, thresholds: Thresholds | None = None
) -> tuple[Verdict, ...]:
    """Compare the recall of each class or label of the baseline (first) and of the run.

    A class fires if its recall dropped by at least the threshold and significantly: by McNemar's
    two-sided mid-p of its samples, adjusted after Holm over the classes with samples. A comparison
    of the two runs names the same classes, and those with smaller drops. `baseline` is the name of
    the baseline run. As everywhere, at least two classes must have examples.
    """
    limits = thresholds or Thresholds()
    hits = pair.rates
    changes = recall_changes(hits, confidence=1 - limits.regression_alpha)
    if changes.n_tested < 2:
        return ()
    lost = (hits.only_first - hits.only_second).astype(np.float64)
    drop = np.divide(lost, hits.cases, out=np.zeros_like(lost), where=hits.cases > 0)
    fires = changes.is_changed & (lost > 0) & (drop >= limits.regression_drop)
    return tuple(
        _verdict(pair, code, changes, baseline=baseline, limits=limits)
        for code in np.flatnonzero(fires).tolist()
    )


def _verdict(
    pair: PairedRecall, code: int, changes: ClassChanges, *, baseline: str, limits: Thresholds
) -> Verdict:
    name, cases = pair.names[code], int(pair.rates.cases[code])
    before, after = int(pair.before[code]) / cases, int(pair.after[code]) / cases
    test = mcnemar(int(pair.rates.only_first[code]), int(pair.rates.only_second[code]))
    adjusted = float(changes.p_adjusted[code])
    drop = (test.only_first - test.only_second) / cases
    bounds = changes.together.bounds
    low, high = float(-bounds.high[code]), float(-bounds.low[code])
    largest = int(pair.rates.cases.max())
    was, now = percents(before, after)
    return Verdict(
        rule="F14",
        version=RULES["F14"].version,
        class_label=name,
        severity=Severity.HIGH if drop >= limits.regression_drop_high else Severity.MEDIUM,
        message=(
            f"Recall of '{name}' fell from {was} to {now} against '{baseline}' "
            f"({interval_points(-high, -low, changes.confidence)}, McNemar {p_value(adjusted)})."
        ),
        evidence={
            "baseline": baseline,
            "actual": cases,
            "recall": after,
            "baseline_recall": before,
            "drop": drop,
            "drop_low": low,
            "drop_high": high,
            "lost": test.only_first,
            "won": test.only_second,
            "p": test.exact_p,
            "mid_p": test.mid_p,
            "p_adjusted": adjusted,
            "is_minority": cases <= limits.minority_share * largest,
        },
        fired=(
            Condition("drop of recall", drop, Sign.AT_LEAST, limits.regression_drop, holds=True),
            Condition(
                f"McNemar p, adjusted over {changes.n_tested} classes",
                adjusted,
                Sign.BELOW,
                limits.regression_alpha,
                holds=True,
            ),
        ),
        thresholds=limits.used(USES),
    )
