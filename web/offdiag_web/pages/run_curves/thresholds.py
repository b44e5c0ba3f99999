"""Tables of one class: what each threshold gives, and what would change at another prevalence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.counted import Counted, unweighted
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TIDY_THRESHOLDS
from offdiag.services.curves import (
    PREVALENCE_KEYS,
    measured_values,
    values_at_prevalence,
)
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.numbers import CLASS_METRIC_TITLES, Notes, ShownValue, shown

_SHARES_REPORTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_SHOWN_PROBABILITIES = TIDY_THRESHOLDS[1::2]
"""0.1, 0.2, … 0.9: each second of those whose counts are kept."""


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """One threshold; `marks` say what it is the best at, or that it is the one in use."""

    threshold: str
    marks: str
    reported: str
    found: str
    recall: str
    false_positive_rate: str
    precision: str
    f1: str
    is_in_use: bool


@dataclass(frozen=True, slots=True)
class ThresholdTable:
    """Thresholds from the strictest on; `rule` says when a case is reported."""

    rule: str
    lines: tuple[ThresholdLine, ...]


def threshold_table(
    points: OperatingPoints,
    *,
    score_of: str,
    in_use: int | None,
    are_probabilities: bool,
    prevalence: float | None,
) -> ThresholdTable:
    """Tidy thresholds, the one in use, and those of the largest F1 and the largest gap of rates.

    `score_of` names the class that has the score, `in_use` is the place of a point. Precision
    and F1 are those at the prevalence, if given.
    """
    precision = points.precision(prevalence)
    recall = points.recall
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = 2 * precision * recall / (precision + recall)
    best = {_best(f1): "largest F1"}
    gap = _best(recall - points.false_positive_rate)
    best[gap] = f"{best[gap]}, largest gap of rates" if gap in best else "largest gap of rates"
    tidy = list(_tidy(points, are_probabilities=are_probabilities))
    places = {place for place, _ in tidy} | set(best) | ({in_use} if in_use is not None else set())
    texts = {place: text for place, text in tidy if text}
    lines = []
    for place in sorted(place for place in places if place is not None):
        marks = [best[place]] if place in best else []
        if place == in_use:
            marks.insert(0, "in use")
        lines.append(
            ThresholdLine(
                threshold=texts.get(place) or _number(float(points.thresholds[place])),
                marks=", ".join(marks),
                reported=numbers.count(int(points.reported[place])),
                found=numbers.hits_of(int(points.true_positives[place]), points.n_positive),
                recall=_number(float(recall[place])),
                false_positive_rate=_number(float(points.false_positive_rate[place])),
                precision=_number(float(precision[place])),
                f1=_number(float(f1[place])),
                is_in_use=place == in_use,
            )
        )
    side = "below" if points.reports_below else "at least"
    rule = (
        f"An example is predicted positive when its score of {score_of} is {side} the threshold."
    )
    return ThresholdTable(rule, tuple(lines))


def _best(values: NDArray[np.float64]) -> int | None:
    return None if np.isnan(values).all() else int(np.nanargmax(values))


def _tidy(points: OperatingPoints, *, are_probabilities: bool) -> Iterable[tuple[int, str]]:
    """Places of tidy thresholds with their text, empty where the exact score is to be shown."""
    if are_probabilities:
        for share in _SHOWN_PROBABILITIES:
            yield points.at(float(np.float32(share))), f"{share:g}"
        return
    total = points.n_positive + points.n_negative
    for share in _SHARES_REPORTED:
        yield int(np.searchsorted(points.reported, share * total)), ""


def _number(value: float) -> str:
    return (
        "undefined" if math.isnan(value) else "∞" if math.isinf(value) else numbers.metric(value)
    )


_UNCHANGED = frozenset({"recall", "specificity", "balanced_accuracy_ovr"})


@dataclass(frozen=True, slots=True)
class PrevalenceLine:
    """One metric as it was measured and as it would be."""

    title: str
    measured: ShownValue
    expected: ShownValue
    stays: bool


@dataclass(frozen=True, slots=True)
class PrevalenceView:
    """The question with its answer; `lines` is empty where it has none, and `problem` says why."""

    sentence: str
    lines: tuple[PrevalenceLine, ...]
    problem: str | None = None


def prevalence_view(matrix: Counted, code: int, prevalence: float, notes: Notes) -> PrevalenceView:
    """Work out again what depends on how common the class is."""
    measured = measured_values(matrix, code)
    sentence = _sentence(matrix, code, prevalence)
    try:
        expected = values_at_prevalence(matrix, code, prevalence)
    except InvalidInput as error:
        return PrevalenceView(sentence, (), problem=f"{error.message} {error.hint or ''}".strip())
    return PrevalenceView(
        sentence,
        tuple(
            PrevalenceLine(
                CLASS_METRIC_TITLES[key],
                shown(measured[key], notes),
                shown(expected[key], notes),
                key in _UNCHANGED,
            )
            for key in PREVALENCE_KEYS
        ),
    )


def percent(share: float) -> str:
    """A share as a percentage with as many digits as it was given with, up to four."""
    return f"{100 * share:.4g}\N{NARROW NO-BREAK SPACE}%"


def _sentence(matrix: Counted, code: int, prevalence: float) -> str:
    name = quoted_name(matrix.labels.names[code])
    counted = unweighted(matrix)
    share = int(counted.actual[code]) / max(counted.total, 1)
    return (
        f"What if {percent(prevalence)} of the examples were {name}, and not {percent(share)} as "
        "measured here? Recall and false positive rate stay, because they look at one class "
        "each; what depends on how common the classes are is worked out again below. ROC "
        "curves, calibration and the spread of scores are as measured."
    )
