"""F4: a class that is found far less often than the rest.

This is the rule that finds a single failing class. Differences between averages do not: with
recall 40 % on a class of 5 %, the gaps between accuracy, balanced accuracy and macro F1 stay
below their thresholds in more than nine of ten test sets.
"""

from __future__ import annotations

import numpy as np

from offdiag.flags.chance import at_most
from offdiag.flags.judgement import ClassRule, Judgement, all_of, compare, graded
from offdiag.flags.severity import Severity
from offdiag.flags.subjects import Floats, Subjects, per_run
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Sign
from offdiag.flags.wording import chance, percent
from offdiag.metrics.intervals.proportions import wilson


def _gap(s: Subjects) -> Floats:
    return s.accuracy_elsewhere - s.per_class("recall")


def _chance_if_as_easy(s: Subjects, t: Thresholds) -> Floats:
    """Probability of so few hits if the class were found as often as the rest, (R, K)."""
    expected = np.minimum(s.accuracy_elsewhere, t.recall_gap_cap)
    return at_most(s.correct, s.actual, expected)


def _judge_recall_gap(s: Subjects, t: Thresholds) -> Judgement:
    level = per_run(t.recall_gap_alpha / s.n_actual_classes.clip(min=1))
    gap = _gap(s)
    comparisons = (
        compare("accuracy elsewhere minus recall", gap, Sign.AT_LEAST, t.recall_gap),
        compare(
            "chance of so few hits if found as often as the rest",
            _chance_if_as_easy(s, t),
            Sign.AT_MOST,
            level,
        ),
    )
    fires = all_of(*comparisons)
    is_grave = compare("gap", gap, Sign.AT_LEAST, t.recall_gap_critical).holds
    return Judgement(fires, graded(fires, Severity.HIGH, Severity.CRITICAL, is_grave), comparisons)


def _describe_recall_gap(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    cases, hits = int(s.actual[0, code]), int(s.correct[0, code])
    recall = float(s.per_class("recall")[0, code])
    elsewhere = float(s.accuracy_elsewhere[0, code])
    p = float(_chance_if_as_easy(s, t)[0, code])
    bounds = wilson(hits, cases)
    low, high = float(bounds.low), float(bounds.high)
    name = s.names[code]
    is_capped = elsewhere > t.recall_gap_cap
    rate = f"found {percent(t.recall_gap_cap)} of the time" if is_capped else "as easy as the rest"
    message = (
        f"{hits} of {cases} '{name}' are found ({percent(recall)}, 95 % interval "
        f"{percent(low)} to {percent(high)}), against {percent(elsewhere)} of everything else. "
        f"If '{name}' were {rate}, so few would turn up with probability {chance(p)}."
    )
    return message, {
        "actual": cases,
        "correct": hits,
        "recall": recall,
        "recall_low": low,
        "recall_high": high,
        "accuracy_elsewhere": elsewhere,
        "gap": elsewhere - recall,
        "p": p,
        "is_minority": bool(s.is_minority(t.minority_share)[0, code]),
    }


RULES = (
    ClassRule(
        "F4",
        _judge_recall_gap,
        _describe_recall_gap,
        uses=(
            "recall_gap",
            "recall_gap_critical",
            "recall_gap_alpha",
            "recall_gap_cap",
            "minority_share",
        ),
    ),
)
