"""F14: classes that a run finds less often than the baseline does, on the same cases."""

from __future__ import annotations

import numpy as np

from offdiag.flags.catalogue import RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict, chance, percent
from offdiag.metrics.paired.class_changes import ClassChanges, recall_changes
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint import JointCounts

USES = ("regression_drop", "regression_drop_high", "regression_alpha", "minority_share")
"""The thresholds that decide."""


def regression_verdicts(
    joint: JointCounts, *, baseline: str, thresholds: Thresholds | None = None
) -> tuple[Verdict, ...]:
    """Compare the recall of each class; `joint` counts the baseline first and the run second.

    A class fires if its recall dropped by the threshold or more and significantly: by McNemar's
    two-sided mid-p of its cases, adjusted after Holm over the classes with cases. A comparison of
    the two runs names the same classes, and those with smaller drops. `baseline` is the name of
    the baseline run. As everywhere, nothing is said unless at least two classes have cases.
    """
    limits = thresholds or Thresholds()
    hits = joint.hits
    changes = recall_changes(hits, confidence=1 - limits.regression_alpha)
    if changes.n_tested < 2:
        return ()
    lost = (hits.only_first - hits.only_second).astype(np.float64)
    drop = np.divide(lost, hits.cases, out=np.zeros_like(lost), where=hits.cases > 0)
    fires = changes.is_changed & (lost > 0) & (drop >= limits.regression_drop)
    return tuple(
        _verdict(joint, code, changes, baseline=baseline, limits=limits)
        for code in np.flatnonzero(fires).tolist()
    )


def _verdict(
    joint: JointCounts, code: int, changes: ClassChanges, *, baseline: str, limits: Thresholds
) -> Verdict:
    name, cases = joint.labels.names[code], int(joint.hits.cases[code])
    before = int(joint.first_matrix.counts[code, code]) / cases
    after = int(joint.second_matrix.counts[code, code]) / cases
    test = mcnemar(int(joint.hits.only_first[code]), int(joint.hits.only_second[code]))
    adjusted = float(changes.p_adjusted[code])
    drop = (test.only_first - test.only_second) / cases
    bounds = changes.together.bounds
    low, high = float(-bounds.high[code]), float(-bounds.low[code])
    largest = int(joint.hits.cases.max())
    return Verdict(
        rule="F14",
        version=RULES["F14"].version,
        class_label=name,
        severity=Severity.HIGH if drop >= limits.regression_drop_high else Severity.MEDIUM,
        message=(
            f"'{name}' is found in {percent(after)} of its {cases} cases, against "
            f"{percent(before)} by the baseline '{baseline}': {test.only_first} lost, "
            f"{test.only_second} won. McNemar p = {chance(adjusted)}, adjusted over "
            f"{changes.n_tested} classes; the drop is {percent(low)} to {percent(high)} "
            f"({100 * changes.confidence:g} % CI, all classes together)."
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
