"""F16: recall of a class, or accuracy, that is far lower on a slice than on all other samples.

The tests and intervals are those of `metrics.slices.finder`, adjusted over all slices and metrics
of the run, so if no slice has any effect, at most 5 % of runs get a flag. The gap is graded by
the thresholds of F4: at least critical, at least the threshold, or possibly the threshold.

One cause is flagged once. A slice is left out if something at least as severe is about the
same samples: a class most of whose misses it holds, or a wider or overlapping slice, or another
class of the slice, that has most of its errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.domain.number_text import count, interval_points, p_value, percents
from offdiag.domain.slices import slice_of
from offdiag.flags.catalogue import RULES
from offdiag.flags.problems import RULES_OF, Cause
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict
from offdiag.metrics.slices.finder import (
    ACCURACY,
    LEVEL,
    RECALL,
    SUBSET_ACCURACY,
    SliceFindings,
    SliceGap,
)

USES = ("recall_gap", "recall_gap_critical")
MOST_RAISED = 20
"""Most flags for one run, the most severe ones: nobody decides about hundreds of slices."""
MOST_ERRORS = 0.5
"""Share of errors above which two findings are about the same samples."""
_KEYS = (ACCURACY, SUBSET_ACCURACY, RECALL)
Terms = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Subject:
    """Samples of a class (None: all) in a slice (no terms: all samples), and the severity."""

    code: int | None
    terms: Terms
    severity: Severity


def slice_verdicts(
    found: SliceFindings,
    labels: Sequence[str],
    of_run: Iterable[Verdict],
    thresholds: Thresholds | None = None,
) -> tuple[Verdict, ...]:
    """The slices to flag, the most severe first; `of_run` are the verdicts on all samples."""
    limits = thresholds or Thresholds()
    flagged = [
        _Subject(labels.index(each.class_label), frozenset(), each.severity)
        for each in of_run
        if each.rule in RULES_OF[Cause.MISSED] and each.class_label in labels
    ]
    raised = []
    for gap, severity in _in_order(found, limits):
        subject = _Subject(gap.code, frozenset(gap.terms), severity)
        if _is_flagged(found, subject, flagged):
            continue
        flagged.append(subject)
        raised.append(_verdict(gap, severity, labels, found.n_tests, limits))
        if len(raised) == MOST_RAISED:
            break
    return tuple(raised)


def _in_order(found: SliceFindings, limits: Thresholds) -> list[tuple[SliceGap, Severity]]:
    """The gaps to flag: severe before mild, wide before deep, a class first if it has most errors.

    Accuracy comes before the classes of its slice if none of them has most of the errors.
    """
    graded = [
        (gap, severity)
        for gap in found.worst(found.n_found, _KEYS)
        if gap.is_significant and (severity := _severity(gap, limits)) is not None
    ]
    errors = {(frozenset(gap.terms), gap.code): gap.cases - (gap.hits or 0) for gap, _ in graded}

    def place(each: tuple[SliceGap, Severity]) -> tuple[int, int, int, float]:
        gap, severity = each
        of_all = errors.get((frozenset(gap.terms), None))
        if gap.code is None or of_all is None:
            turn = 1
        else:
            of_class = errors[frozenset(gap.terms), gap.code]
            turn = 0 if of_class > MOST_ERRORS * of_all else 2
        return -severity.rank, len(gap.terms), turn, gap.p

    return sorted(graded, key=place)


def _severity(gap: SliceGap, limits: Thresholds) -> Severity | None:
    """The severity, None if a gap of the threshold is ruled out."""
    if gap.gap_low is None or gap.gap_high is None or np.isnan(gap.gap_low):
        return None
    smallest, largest = -gap.gap_high, -gap.gap_low
    if smallest >= limits.recall_gap_critical:
        return Severity.CRITICAL
    if smallest >= limits.recall_gap:
        return Severity.HIGH
    return Severity.MEDIUM if largest >= limits.recall_gap else None


def _is_flagged(found: SliceFindings, one: _Subject, flagged: Iterable[_Subject]) -> bool:
    """Whether flags that are at least as severe are about the samples of a slice.

    For a finding on accuracy, flags of several classes count together.
    """
    shared: dict[int | None, int] = {}
    for other in flagged:
        if other.severity.rank < one.severity.rank:
            continue
        errors = _shared_errors(found, one, other)
        if other.code == one.code and not other.terms:
            of_class = found.errors(one.code, other.terms)
            if errors >= MOST_ERRORS * of_class:
                return True
        else:
            shared[other.code] = max(shared.get(other.code, 0), errors)
    of_all = shared.pop(None, 0)
    errors = max(of_all, sum(shared.values()))
    return errors > 0 and errors >= MOST_ERRORS * found.errors(one.code, one.terms)


def _shared_errors(found: SliceFindings, one: _Subject, other: _Subject) -> int:
    """Errors of one subject that also belong to the other, as far as the counts tell."""
    if one.code is not None and other.code is not None and one.code != other.code:
        return 0
    code = one.code if other.code is None else other.code
    if other.terms <= found.with_wider(one.terms):
        return found.errors(code, one.terms)
    if one.terms <= found.with_wider(other.terms):
        return found.errors(code, other.terms)
    return found.errors(code, one.terms | other.terms)


def _verdict(
    gap: SliceGap, severity: Severity, labels: Sequence[str], n_tests: int, limits: Thresholds
) -> Verdict:
    part = str(slice_of(gap.terms))
    label = None if gap.code is None else labels[gap.code]
    what = "Accuracy" if label is None else f"Recall of '{label}'"
    hits, rest_hits = gap.hits or 0, gap.rest_hits or 0
    low, high = float(gap.gap_low or 0), float(gap.gap_high or 0)
    value, rest = percents(gap.value, gap.rest)
    return Verdict(
        rule="F16",
        version=RULES["F16"].version,
        class_label=label,
        severity=severity,
        message=(
            f"{what} is {value} on {part} ({hits:,} of {gap.cases:,}), against {rest} on all "
            f"other examples ({rest_hits:,} of {gap.rest_cases:,}; {interval_points(low, high)}, "
            f"{p_value(gap.p_adjusted)}, adjusted for {count(n_tests, 'test')})."
        ),
        evidence={
            "metric": gap.key,
            "cases": gap.cases,
            "correct": hits,
            "value": gap.value,
            "value_low": gap.low,
            "value_high": gap.high,
            "rest_cases": gap.rest_cases,
            "rest_correct": rest_hits,
            "rest": gap.rest,
            "gap": -gap.gap,
            "gap_low": -high,
            "gap_high": -low,
            "p": gap.p,
            "p_adjusted": gap.p_adjusted,
            "n_tests": n_tests,
            "explained": gap.explained,
            "confirmed": gap.confirmed,
        },
        fired=(
            Condition(
                f"p, adjusted for {count(n_tests, 'test')}",
                gap.p_adjusted,
                Sign.AT_MOST,
                LEVEL,
                holds=True,
            ),
            Condition(
                "largest gap of the interval", -low, Sign.AT_LEAST, limits.recall_gap, holds=True
            ),
            Condition(
                "smallest gap of the interval",
                -high,
                Sign.AT_LEAST,
                limits.recall_gap,
                holds=-high >= limits.recall_gap,
            ),
        ),
        thresholds=limits.used(USES),
        slice=part,
    )
