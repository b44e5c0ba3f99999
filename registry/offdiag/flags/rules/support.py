"""F12: a class with too few cases to say how well it is found."""

from __future__ import annotations

import numpy as np

from offdiag.flags.chance import at_most
from offdiag.flags.judgement import ClassRule, Judgement, compare, constant
from offdiag.flags.severity import Severity
from offdiag.flags.subjects import Floats, Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Evidence, Sign
from offdiag.flags.wording import percent
from offdiag.metrics.intervals.proportions import wilson

PLAUSIBLE = 0.10
"""The message names a result that at least this share of test sets would reach or undercut."""


def _half_width(s: Subjects) -> Floats:
    """Half the width of the 95 % Wilson interval of recall, (R, K); NaN without cases."""
    bounds = wilson(s.correct, s.actual)
    return np.asarray((bounds.high - bounds.low) / 2)


def _judge_support(s: Subjects, t: Thresholds) -> Judgement:
    few = compare("actual cases", s.actual, Sign.BELOW, t.support_cases)
    wide = compare(
        "half-width of the interval of recall", _half_width(s), Sign.ABOVE, t.support_half_width
    )
    fires = few.holds | wide.holds
    return Judgement(fires, constant(fires, Severity.INFO), (few, wide))


def _describe_support(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    name, cases = s.names[code], int(s.actual[0, code])
    if cases == 0:
        return (
            f"There is no case of '{name}', so nothing can be said about it.",
            {"actual": 0, "half_width": None},
        )
    hits = _plausible_hits(cases, t.support_recall)
    share = float(at_most(hits, cases, t.support_recall))
    message = (
        f"Only {cases} '{name}': a model that finds {percent(t.support_recall)} of them in the "
        f"long run would show {percent(hits / cases)} or less in {percent(share)} of such "
        f"test sets."
    )
    return message, {
        "actual": cases,
        "half_width": float(_half_width(s)[0, code]),
        "shown_recall": hits / cases,
        "share_of_test_sets": share,
    }


def _plausible_hits(cases: int, recall: float) -> int:
    """The fewest hits that `PLAUSIBLE` of all test sets reach or undercut, by bisection."""
    low, high = 0, cases
    while low < high:
        middle = (low + high) // 2
        if at_most(middle, cases, recall) >= PLAUSIBLE:
            high = middle
        else:
            low = middle + 1
    return low


RULES = (
    ClassRule(
        "F12",
        _judge_support,
        _describe_support,
        uses=("support_cases", "support_half_width", "support_recall"),
    ),
)
