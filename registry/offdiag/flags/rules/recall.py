"""F4 and F12: a class with far lower recall than the rest, or with too few samples to say.

F4 is the rule that finds a single failing class. Differences between averages do not: with recall
40 % on a class of 5 %, the gaps between accuracy, balanced accuracy and macro F1 stay below their
thresholds in more than nine of ten test sets.

The gap is either proved or in sight. Proved means that a gap below the threshold would show so
few hits at most 5 times in 100, over all classes together. In sight means that the class is
certainly worse than the rest and a gap of the threshold is not ruled out. Neither state depends
only on which side of the threshold the estimate lies: a class whose true gap equals the threshold
would change sides with every other test set.

The recall of the rest is an estimate too. Tails are averaged over its possible values, by
Jeffreys' prior (Gelman et al. 2013, Bayesian Data Analysis, section 6.3, posterior predictive p).
Treated as the truth, six other examples that are all found would require 95 % of a large class,
and one of four equally good models would be called worse on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offdiag.domain.number_text import count, interval_percent, p_value, percent, points
from offdiag.domain.values import ROUNDING
from offdiag.extras import optional
from offdiag.flags.rule_evaluation import (
    ClassRule,
    Comparison,
    Flags,
    Floats,
    RuleEvaluation,
    Subjects,
    Trials,
    all_of,
    at_least,
    at_most,
    compare,
    constant,
    per_run,
)
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import CERTAINTY, Certainty, Evidence, Severity, Sign

IN_SIGHT_SEVERITY = Severity.MEDIUM
"""Severity of a gap in sight; a proved one is more severe, so that severity distinguishes them."""
UNSETTLED = 0.03
"""A gap this close to the threshold takes thousands of examples of the class to settle."""
_STEPS = np.linspace(-6.0, 6.0, 65)
"""Recalls over which a tail is averaged, in standard deviations of their logits."""
_POWER = 0.8
"""Share of test sets of the suggested size that settle the gap if the estimates are right."""


@dataclass(frozen=True)
class _Gap:
    """What F4 measures for each class, (R, K), and the levels it compares with, (R, 1)."""

    s: Subjects
    t: Thresholds

    @cached_property
    def gap(self) -> Floats:
        return self.s.accuracy_elsewhere - self.s.recall

    @cached_property
    def reference(self) -> Floats:
        """The recall that is required: that of the rest, up to the cap."""
        return np.minimum(self.s.accuracy_elsewhere, self.t.recall_gap_cap)

    def tail_below(self, gap: float) -> Floats:
        """Probability of so few hits if recall were `gap` below the reference.

        Averaged over the possible references if the observed one would decide.
        """
        found = self.s.recalls
        tail = at_most(found.hits, found.cases, np.clip(self.reference - gap, 0.0, 1.0))
        decides = tail <= max(self.t.recall_gap_proof_alpha, self.t.recall_gap_alpha)
        hits, misses = self.s.others.hits, self.s.others.cases - self.s.others.hits
        tail[decides] = _average_tail(
            Trials(found.hits[decides], found.cases[decides]),
            hits[decides],
            misses[decides],
            cap=self.t.recall_gap_cap,
            gap=gap,
        )
        return tail

    @cached_property
    def tail_above(self) -> Floats:
        """Probability of so many hits if recall were the threshold below the reference.

        A reference below the threshold leaves no room for such a gap.
        """
        recall = self.reference - self.t.recall_gap
        found = self.s.recalls
        chance = at_least(found.hits, found.cases, np.clip(recall, 0.0, 1.0))
        return np.where(recall < 0, 0.0, chance)

    def level(self, alpha: float) -> Floats:
        return per_run(alpha / self.s.n_actual_classes.clip(min=1))

    @cached_property
    def proof(self) -> tuple[Comparison, Comparison]:
        return (
            compare(
                "accuracy elsewhere minus recall",
                self.gap,
                Sign.AT_LEAST,
                self.t.recall_gap,
                causes=self.s.causes_of_recall,
            ),
            compare(
                f"p of a gap under {points(self.t.recall_gap)}",
                self.tail_below(self.t.recall_gap),
                Sign.AT_MOST,
                self.level(self.t.recall_gap_proof_alpha),
                causes=self.s.causes_of_recall,
            ),
        )

    @cached_property
    def sight(self) -> tuple[Comparison, Comparison]:
        return (
            compare(
                "p of a recall as high as elsewhere",
                self.tail_below(0.0),
                Sign.AT_MOST,
                self.level(self.t.recall_gap_alpha),
                causes=self.s.causes_of_recall,
            ),
            compare(
                f"p of a gap of {points(self.t.recall_gap)} or more",
                self.tail_above,
                Sign.ABOVE,
                self.level(self.t.recall_gap_proof_alpha),
                causes=self.s.causes_of_recall,
            ),
        )

    @cached_property
    def severe(self) -> Comparison:
        return compare(
            f"p of a gap under {points(self.t.recall_gap_critical)}",
            self.tail_below(self.t.recall_gap_critical),
            Sign.AT_MOST,
            self.level(self.t.recall_gap_proof_alpha),
        )

    @cached_property
    def is_proved(self) -> Flags:
        return all_of(*self.proof)


def _average_tail(
    of_class: Trials, hits: Floats, misses: Floats, *, cap: float, gap: float
) -> Floats:
    """The mean of P(X <= hits of the class) over the recall of the rest, all (n,)."""
    with optional:
        from scipy.special import polygamma, psi

    # The logit of Beta(a, b) has this mean, this variance and this density.
    a, b = hits[:, np.newaxis] + 0.5, misses[:, np.newaxis] + 0.5
    logit = psi(a) - psi(b) + np.sqrt(polygamma(1, a) + polygamma(1, b)) * _STEPS
    density = a * logit - (a + b) * np.logaddexp(0.0, logit)
    weight = np.exp(density - density.max(axis=-1, keepdims=True))
    recall = np.minimum(1.0 / (1.0 + np.exp(-logit)), cap)
    tails = at_most(
        of_class.hits[:, np.newaxis],
        of_class.cases[:, np.newaxis],
        np.clip(recall - gap, 0.0, 1.0),
    )
    return np.asarray((tails * weight).sum(axis=-1) / weight.sum(axis=-1))


def _judge_recall_gap(s: Subjects, t: Thresholds) -> RuleEvaluation:
    gap = _Gap(s, t)
    grade = np.where(gap.severe.holds, Severity.CRITICAL.rank, Severity.HIGH.rank)
    return RuleEvaluation(
        gap.is_proved | all_of(*gap.sight),
        np.where(gap.is_proved, grade, IN_SIGHT_SEVERITY.rank).astype(np.int64),
        (*gap.proof, *gap.sight, gap.severe),
    )


def _describe_recall_gap(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    gap = _Gap(s, t)
    place = (0, code)
    examples, hits = int(s.numbers.actual[place]), int(s.numbers.correct[place])
    recall, elsewhere = float(s.recall[place]), float(s.accuracy_elsewhere[place])
    is_proved = bool(gap.is_proved[place])
    low, high = float(s.recall_bounds.low[place]), float(s.recall_bounds.high[place])
    tallied = "" if s.is_weighted else f"{hits:,} of {examples:,}, "
    evidence: dict[str, float | int | str | bool | list[str] | None] = {
        CERTAINTY: (Certainty.PROVED if is_proved else Certainty.IN_SIGHT).value,
        "actual": examples,
        "correct": hits,
        "recall": recall,
        "recall_low": low,
        "recall_high": high,
        "accuracy_elsewhere": elsewhere,
        "gap": elsewhere - recall,
        "p": float(gap.tail_below(t.recall_gap)[place]),
        "p_as_elsewhere": float(gap.tail_below(0.0)[place]),
        "is_minority": bool(s.is_minority(t.minority_share)[place]),
    }
    found = (
        f"Recall of '{s.names[code]}' is {percent(recall)} ({tallied}"
        f"{interval_percent(low, high)}), against {percent(elsewhere)} for all other examples"
    )
    if is_proved:
        p = p_value(float(gap.tail_below(t.recall_gap)[place]))
        return f"{found} ({p}).", evidence
    more = examples_needed(
        examples,
        recall,
        each=float(s.recalls.cases[place]) / examples,
        edge=float(gap.reference[place]) - t.recall_gap,
        level=t.recall_gap_proof_alpha / max(1.0, float(s.n_actual_classes[0])),
    )
    evidence["examples_needed"] = more
    return f"{found}; {_doubt(elsewhere - recall, t)}; {_way_out(more)}.", evidence


def examples_needed(
    examples: int, recall: float, *, edge: float, level: float, each: float = 1.0
) -> int | None:
    """How many more examples of a class would show on which side of `edge` its recall lies.

    The size of a one-sided test of one proportion (Fleiss, Levin and Paik 2003, Statistical
    Methods for Rates and Proportions, chapter 2) at `level` and power 80 %, with the observed
    recall, to two digits and at least 1. None if that recall is within `UNSETTLED` of the
    edge. With `level` 5 % and the variance of the recall for both it would be
    (1.645 + 0.84)² recall (1 - recall) / distance², which is 0 for a class never found and
    settles as few as one gap in four if several classes share the level. The result is at least
    the number that would suffice if all of them were missed (or found). `each` is how much an
    example adds to the effective size.
    """
    with optional:
        from scipy.special import ndtri

    distance = abs(edge - recall)
    if distance <= UNSETTLED + ROUNDING:
        return None
    reach = -float(ndtri(level)) * math.sqrt(max(0.0, edge * (1 - edge)))
    reach += float(ndtri(_POWER)) * math.sqrt(recall * (1 - recall))
    size = (reach / distance) ** 2
    extreme = 1 - edge if recall < edge else edge
    if 0 < extreme < 1:
        # With fewer, not even a class without any hit, or any miss, would show it.
        size = max(size, math.log(level) / math.log(extreme))
    more = max(1, math.ceil(size / each) - examples)
    unit: int = 10 ** max(0, len(str(more)) - 2)
    return unit * math.ceil(more / unit)


def _doubt(gap: float, t: Thresholds) -> str:
    """Why nothing is proved: on which side of the threshold the gap may still lie."""
    bound = points(t.recall_gap)
    return f"the gap may be {f'under {bound}' if gap >= t.recall_gap else f'{bound} or more'}"


def _way_out(more: int | None) -> str:
    if more is None:
        return "no realistic number of examples would decide"
    return f"about {count(more, 'more example')} would decide"


RECALL_RULES = (
    ClassRule(
        "F4",
        _judge_recall_gap,
        _describe_recall_gap,
        uses=(
            "recall_gap",
            "recall_gap_critical",
            "recall_gap_proof_alpha",
            "recall_gap_alpha",
            "recall_gap_cap",
            "minority_share",
        ),
    ),
)


PLAUSIBLE = 0.10
"""The evidence gives a result that at least this share of test sets would reach or undercut."""


def _half_width(s: Subjects) -> Floats:
    """Half the width of the 95 % Wilson interval of recall, (R, K); NaN without samples."""
    return np.asarray((s.recall_bounds.high - s.recall_bounds.low) / 2)


def _judge_support(s: Subjects, t: Thresholds) -> RuleEvaluation:
    few = compare("examples", s.recalls.cases, Sign.BELOW, t.support_cases)
    wide = compare(
        "half-width of the interval of recall",
        _half_width(s),
        Sign.ABOVE,
        t.support_half_width,
        causes=s.causes_of_recall,
    )
    fires = few.holds | wide.holds
    return RuleEvaluation(fires, constant(fires, Severity.INFO), (few, wide))


def _describe_support(s: Subjects, code: int, t: Thresholds) -> tuple[str, Evidence]:
    name, examples = s.names[code], int(s.numbers.actual[0, code])
    if examples == 0:
        return f"'{name}' has no examples.", {"actual": 0, "half_width": None}
    low, high = (float(end[0, code]) for end in (s.recall_bounds.low, s.recall_bounds.high))
    ci = interval_percent(low, high).removeprefix("CI ")
    # At least one, as the evidence is a share of this number.
    size = max(1, int(s.recalls.cases[0, code]))
    hits = _plausible_hits(size, t.support_recall)
    message = f"'{name}' has {count(examples, 'example')}; the CI of its recall is {ci}."
    return message, {
        "actual": examples,
        "half_width": float(_half_width(s)[0, code]),
        "shown_recall": hits / size,
        "share_of_test_sets": float(at_most(hits, size, t.support_recall)),
    }


def _plausible_hits(cases: int, recall: float) -> int:
    """The fewest hits that a share `PLAUSIBLE` of test sets reach or undercut, by bisection."""
    low, high = 0, cases
    while low < high:
        middle = (low + high) // 2
        if at_most(middle, cases, recall) >= PLAUSIBLE:
            high = middle
        else:
            low = middle + 1
    return low


SUPPORT_RULES = (
    ClassRule(
        "F12",
        _judge_support,
        _describe_support,
        uses=("support_cases", "support_half_width", "support_recall"),
    ),
)
