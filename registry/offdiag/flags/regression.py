"""F14: classes that a run finds less often than the baseline does, on the same cases."""

from __future__ import annotations

import numpy as np

from offdiag.flags.catalogue import RULES
from offdiag.flags.severity import Severity
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Sign, Verdict
from offdiag.flags.wording import chance, percent
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.mcnemar import McNemar, mcnemar
from offdiag.metrics.paired.score_interval import paired_score_interval

USES = ("regression_drop", "regression_drop_high", "regression_alpha", "minority_share")
"""The thresholds that decide."""


def regression_verdicts(
    joint: JointCounts, *, baseline: str, thresholds: Thresholds | None = None
) -> tuple[Verdict, ...]:
    """Compare the recall of each class; `joint` counts the baseline first and the run second.

    A class fires if its recall dropped by the threshold or more and McNemar's exact two-sided
    test of its cases is significant after division by the number of classes with cases.
    `baseline` is the name of the baseline run. As everywhere, nothing is said unless at least
    two classes have cases.
    """
    limits = thresholds or Thresholds()
    hits = joint.hits
    n_classes = int((hits.cases > 0).sum())
    if n_classes < 2:
        return ()
    lost = (hits.only_first - hits.only_second).astype(np.float64)
    drop = np.divide(lost, hits.cases, out=np.zeros_like(lost), where=hits.cases > 0)
    level = limits.regression_alpha / n_classes
    found = []
    for code in np.flatnonzero((lost > 0) & (drop >= limits.regression_drop)).tolist():
        test = mcnemar(int(hits.only_first[code]), int(hits.only_second[code]))
        if test.exact_p <= level:
            found.append(
                _verdict(joint, code, test, baseline=baseline, level=level, limits=limits)
            )
    return tuple(found)


def _verdict(
    joint: JointCounts,
    code: int,
    test: McNemar,
    *,
    baseline: str,
    level: float,
    limits: Thresholds,
) -> Verdict:
    name, cases = joint.labels.names[code], int(joint.hits.cases[code])
    before = int(joint.first_matrix.counts[code, code]) / cases
    after = int(joint.second_matrix.counts[code, code]) / cases
    drop = (test.only_first - test.only_second) / cases
    bounds = paired_score_interval(joint.hits)
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
            f"{test.only_second} won. Exact McNemar p = {chance(test.exact_p)}; the drop lies "
            f"between {percent(low)} and {percent(high)} (95 % interval)."
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
            "is_minority": cases <= limits.minority_share * largest,
        },
        fired=(
            Condition("drop of recall", drop, Sign.AT_LEAST, limits.regression_drop, holds=True),
            Condition("exact McNemar p", test.exact_p, Sign.AT_MOST, level, holds=True),
        ),
        thresholds=limits.used(USES),
    )
