"""The curves of one class against the rest, and the results of its thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, unweighted
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.curves import PREVALENCE_KEYS, RARE, measured_values, values_at_prevalence
from offdiag.store.run_page import RunResults
from offdiag_web.app.errors import sentence_of
from offdiag_web.charts.curves import precision_recall_drawing, roc_drawing
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.curves import (
    calibration_view,
    class_tiles,
    spread_view,
    tidy_places,
)
from offdiag_web.components.metric_values import CLASS_METRIC_TITLES, Notes, ShownValue, shown


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its heading and how to read it, or the `reason` why there is none."""

    title: str
    reading: str
    drawing: Markup | None
    reason: str | None = None


def one_class_view(
    curve: ScoreCurve, results: RunResults, notes: Notes, *, prevalence: float | None
) -> dict[str, object]:
    """Present the curves of a class; with a prevalence, also what it would change."""
    matrix, code, points = results.counted, curve.code, curve.points
    is_one_of_two = isinstance(results.counted, ConfusionMatrix) and results.counted.n_classes == 2
    name = matrix.labels.names[code]
    score_name = f"score of {quoted_name(name)}"
    what_if = None if prevalence is None else prevalence_view(matrix, code, prevalence, notes)
    if what_if is not None and what_if.problem is not None:
        prevalence = None
    given = given_of(results, code)
    place = points.of_counts(*given)
    roc = _roc(points, name, given)
    precision_recall = _precision_recall(points, name, given, prevalence)
    is_rare = points.n_positive < RARE * (points.n_positive + points.n_negative)
    n_cases = points.n_positive + points.n_negative
    return {
        "name": name,
        "cases": f"{numbers.count(points.n_positive)} of {numbers.plural(n_cases, 'example')} "
        f"{'is' if points.n_positive == 1 else 'are'} {name}",
        "tiles": tuple(class_tiles(results, code, notes, is_whole=is_one_of_two)),
        "figures": (precision_recall, roc) if is_rare else (roc, precision_recall),
        "in_use": _in_use(points, place, results, code),
        "thresholds": (
            threshold_table(
                points,
                score_of=_other(results, code) if points.reports_below else quoted_name(name),
                in_use=place,
                are_probabilities=curve.bins is not None,
                prevalence=prevalence,
            )
            if len(points) and points.n_positive
            else None
        ),
        "calibration": (
            None
            if curve.bins is None
            else calibration_view(
                curve.bins,
                score_name=score_name,
                share_name=f"share of {quoted_name(name)}",
                name=f"Share of {quoted_name(name)} by mean score, in bins",
            )
        ),
        "spread": spread_view(
            curve.histogram,
            names=(
                quoted_name(name),
                _other(results, code) if is_one_of_two else "the rest",
            ),
            score_name=score_name
            if curve.bins is not None or not points.reports_below
            else f"score of {_other(results, code)}",
            name=f"Distribution of the score of {quoted_name(name)}, for the class and the rest",
            threshold=_threshold(curve, place),
        ),
        "what_if": what_if,
    }


def given_of(results: RunResults, code: int) -> tuple[int, int]:
    """True and false positives of the actual predictions."""
    counted = unweighted(results.counted)
    hits = int(counted.correct[code])
    return hits, int(counted.predicted[code]) - hits


def _other(results: RunResults, code: int) -> str:
    return quoted_name(results.counted.labels.names[1 - code])


def _roc(points: OperatingPoints, name: str, given: tuple[int, int]) -> Figure:
    title = "ROC curve"
    reading = (
        f"Each point is a threshold. Up: recall of {quoted_name(name)}. Right: share of the rest "
        "that is predicted positive with it. Without skill, both are equal."
    )
    reason = _one_sided(points, name)
    if reason is not None:
        return Figure(title, reading, None, reason)
    drawing = roc_drawing(
        points,
        name=f"{title} of {quoted_name(name)} against the rest",
        in_use=roc_in_use(points, given),
    )
    return Figure(title, reading, drawing)


def _precision_recall(
    points: OperatingPoints, name: str, given: tuple[int, int], prevalence: float | None
) -> Figure:
    share = points.n_positive / max(points.n_positive + points.n_negative, 1)
    level = percent(share if prevalence is None else prevalence)
    title = "Precision and recall"
    if prevalence is not None:
        title += f" where {percent(prevalence)} are {quoted_name(name)}"
    reading = (
        "Each point is a threshold. Up: share of predicted positives that are correct. Right: "
        f"recall. Without skill, precision is the share of {quoted_name(name)}, {level}."
    )
    if not points.n_positive or (prevalence is not None and not points.n_negative):
        return Figure(title, reading, None, _one_sided(points, name))
    drawing = precision_recall_drawing(
        points,
        name=f"{title} of {quoted_name(name)} against the rest" if prevalence is None else title,
        prevalence=prevalence,
        in_use=precision_in_use(points, given, prevalence),
    )
    return Figure(title, reading, drawing)


def roc_in_use(points: OperatingPoints, given: tuple[int, int]) -> tuple[float, float]:
    """The actual predictions as a point of a ROC curve."""
    hits, alarms = given
    return alarms / points.n_negative, hits / points.n_positive


def precision_in_use(
    points: OperatingPoints, given: tuple[int, int], prevalence: float | None = None
) -> tuple[float, float] | None:
    """The same as a point of precision over recall; None if nothing is predicted positive."""
    hits, alarms = given
    if not hits + alarms:
        return None
    recall = hits / points.n_positive
    if prevalence is None:
        return recall, hits / (hits + alarms)
    expected = recall * prevalence
    reported = expected + alarms / points.n_negative * (1 - prevalence)
    return recall, expected / reported


def _one_sided(points: OperatingPoints, name: str) -> str | None:
    if not points.n_positive:
        return f"No example is {quoted_name(name)}, so recall is undefined."
    if not points.n_negative:
        return f"Every example is {quoted_name(name)}, so there are no false positives."
    return None


def _in_use(points: OperatingPoints, place: int | None, results: RunResults, code: int) -> str:
    if place is None:
        return (
            "The ring marks the predictions of this run; no single threshold on this score "
            "gives exactly those."
        )
    if place == 0:
        side = "below" if points.reports_below else "above"
        return f"The predictions of this run match a threshold {side} all scores."
    threshold = _threshold_text(points, place)
    if points.reports_below:
        where = f"where the score of {_other(results, code)} is below {threshold}"
    else:
        where = f"at scores of at least {threshold}"
    name = quoted_name(results.counted.labels.names[code])
    return f"By their counts, the predictions of this run match predicting {name} {where}."


def _threshold(curve: ScoreCurve, place: int | None) -> tuple[float, str] | None:
    """The threshold in use on the axis of the histogram; None if there is none to draw."""
    if not place or not np.isfinite(curve.points.thresholds[place]):
        return None
    at = float(curve.points.thresholds[place])
    if not curve.points.reports_below:
        return at, "in use from here"
    return (at, "in use below") if curve.bins is None else (1 - at, "in use from here")


_SHARES_REPORTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """One threshold; `marks` say what it is best at, or that it is in use."""

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
    """Thresholds from the strictest on; `rule` says when a sample is predicted positive."""

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
    """Tidy thresholds, the one in use, and those with the largest F1 and Youden's J.

    `score_of` names the class that has the score, `in_use` is the index of a point. Precision and
    F1 are those at the prevalence, if given.
    """
    precision, f1 = points.precision(prevalence), points.f1(prevalence)
    recall = points.recall
    best = {_best(f1): "largest F1"}
    gap = _best(recall - points.false_positive_rate)
    best[gap] = f"{best[gap]}, largest Youden's J" if gap in best else "largest Youden's J"
    tidy = list(tidy_places(points, _SHARES_REPORTED, are_probabilities=are_probabilities))
    places = {place for place, _ in tidy} | set(best) | ({in_use} if in_use is not None else set())
    texts = {place: text for place, text in tidy if text}
    lines = []
    for place in sorted(place for place in places if place is not None):
        marks = [best[place]] if place in best else []
        if place == in_use:
            marks.insert(0, "in use")
        lines.append(
            ThresholdLine(
                threshold=texts.get(place) or _threshold_text(points, place),
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


def _threshold_text(points: OperatingPoints, place: int) -> str:
    """A threshold with three decimals, or with more if those select other examples."""
    threshold = float(points.thresholds[place])
    if math.isinf(threshold):
        return "∞"
    text = f"{threshold + 0.0:.3f}"
    if points.at(float(text)) != place:
        return points.threshold_text(threshold)
    return f"{float(text):,.3f}".replace("-", numbers.MINUS)


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else numbers.metric(value)


_UNCHANGED = frozenset({"recall", "specificity", "balanced_accuracy_ovr"})


@dataclass(frozen=True, slots=True)
class PrevalenceLine:
    """One metric as measured and as expected."""

    title: str
    measured: ShownValue
    expected: ShownValue
    stays: bool


@dataclass(frozen=True, slots=True)
class PrevalenceView:
    """The question with its answer; without `lines`, `problem` says why there is none."""

    sentence: str
    lines: tuple[PrevalenceLine, ...]
    problem: str | None = None


def prevalence_view(matrix: Counted, code: int, prevalence: float, notes: Notes) -> PrevalenceView:
    """Recompute everything that depends on how common the class is."""
    measured = measured_values(matrix, code)
    name = quoted_name(matrix.labels.names[code])
    counted = unweighted(matrix)
    share = int(counted.actual[code]) / max(counted.total, 1)
    sentence = (
        f"What if {percent(prevalence)} of the examples were {name} instead of the measured "
        f"{percent(share)}? Recall and false positive rate stay the same, because each depends on "
        "one class only; values that depend on prevalence are recalculated below. ROC curve, "
        "calibration and score distribution are as measured."
    )
    try:
        expected = values_at_prevalence(matrix, code, prevalence)
    except InvalidInput as error:
        return PrevalenceView(sentence, (), problem=sentence_of(error))
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
    """A share as a percentage with as many digits as were given, up to four."""
    return f"{100 * share:.4g}\N{NARROW NO-BREAK SPACE}%"
