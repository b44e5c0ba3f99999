"""The curves of one class against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import unweighted
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.curves import RARE
from offdiag.store.run_page import RunResults
from offdiag_web.charts.scores import precision_recall_drawing, roc_drawing
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.curves import (
    CalibrationView,
    SpreadView,
    calibration_view,
    class_tiles,
    spread_view,
)
from offdiag_web.components.numbers import Notes
from offdiag_web.components.tiles import Tile
from offdiag_web.pages.run_curves.thresholds import (
    PrevalenceView,
    ThresholdTable,
    percent,
    prevalence_view,
    threshold_table,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its heading and how to read it; no picture where `reason` says why."""

    title: str
    reading: str
    drawing: Markup | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OneClassView:
    """Everything that is shown of a class. `in_use` is about the answers that were given."""

    name: str
    cases: str
    tiles: tuple[Tile, ...]
    figures: tuple[Figure, ...]
    in_use: str
    thresholds: ThresholdTable | None
    calibration: CalibrationView | None
    spread: SpreadView
    what_if: PrevalenceView | None


def one_class_view(
    curve: ScoreCurve, results: RunResults, notes: Notes, *, prevalence: float | None
) -> OneClassView:
    """Present the curve of a class; with a prevalence, what it would change."""
    matrix, code, points = results.counted, curve.code, curve.points
    is_one_of_two = _is_one_of_two(results)
    name = matrix.labels.names[code]
    score_name = f"score of {quoted_name(name)}"
    what_if = None if prevalence is None else prevalence_view(matrix, code, prevalence, notes)
    if what_if is not None and what_if.problem is not None:
        prevalence = None
    given = _given(results, code)
    place = points.of_counts(*given)
    roc = _roc(points, name, given)
    precision_recall = _precision_recall(points, name, given, prevalence)
    is_rare = points.n_positive < RARE * (points.n_positive + points.n_negative)
    n_cases = points.n_positive + points.n_negative
    return OneClassView(
        name=name,
        cases=f"{numbers.count(points.n_positive)} of {numbers.plural(n_cases, 'example')}",
        tiles=tuple(class_tiles(results, code, notes, is_whole=is_one_of_two)),
        figures=(precision_recall, roc) if is_rare else (roc, precision_recall),
        in_use=_in_use(points, place, results, code),
        thresholds=threshold_table(
            points,
            score_of=_other(results, code) if points.reports_below else quoted_name(name),
            in_use=place,
            are_probabilities=curve.bins is not None,
            prevalence=prevalence,
        )
        if len(points) and points.n_positive
        else None,
        calibration=None
        if curve.bins is None
        else calibration_view(
            curve.bins,
            score_name=score_name,
            share_name=f"share of {quoted_name(name)}",
            name=f"Share of {quoted_name(name)} by mean score, in bins",
        ),
        spread=spread_view(
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
        what_if=what_if,
    )


def _is_one_of_two(results: RunResults) -> bool:
    """Whether the rest is one class, which labels of sets are never to each other."""
    return isinstance(results.counted, ConfusionMatrix) and results.counted.n_classes == 2


def _given(results: RunResults, code: int) -> tuple[int, int]:
    """True and false positives of the answers that were given."""
    counted = unweighted(results.counted)
    hits = int(counted.correct[code])
    return hits, int(counted.predicted[code]) - hits


def _other(results: RunResults, code: int) -> str:
    return quoted_name(results.counted.labels.names[1 - code])


def _roc(points: OperatingPoints, name: str, given: tuple[int, int]) -> Figure:
    title = "ROC curve"
    reading = (
        f"Each point is a threshold: how much of {quoted_name(name)} is found, and how much of "
        "the rest is reported with it. Without skill both are equal."
    )
    reason = _one_sided(points, name)
    if reason is not None:
        return Figure(title, reading, None, reason)
    hits, alarms = given
    in_use = (alarms / points.n_negative, hits / points.n_positive)
    drawing = roc_drawing(
        points, name=f"{title} of {quoted_name(name)} against the rest", in_use=in_use
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
        "How much of what is reported is right, and how much is found by it. Without skill "
        f"precision is the share of the class, {level}."
    )
    if not points.n_positive or (prevalence is not None and not points.n_negative):
        return Figure(title, reading, None, _one_sided(points, name))
    drawing = precision_recall_drawing(
        points,
        name=f"{title} of {quoted_name(name)} against the rest" if prevalence is None else title,
        prevalence=prevalence,
        in_use=_precision_in_use(points, given, prevalence),
    )
    return Figure(title, reading, drawing)


def _precision_in_use(
    points: OperatingPoints, given: tuple[int, int], prevalence: float | None
) -> tuple[float, float] | None:
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
        return "The predictions of this run match a threshold above all scores."
    threshold = numbers.metric(float(points.thresholds[place]))
    if points.reports_below:
        where = f"where the score of {_other(results, code)} is below {threshold}"
    else:
        where = f"from a score of {threshold} on"
    name = quoted_name(results.counted.labels.names[code])
    return f"The predictions of this run match predicting {name} {where}."


def _threshold(curve: ScoreCurve, place: int | None) -> tuple[float, str] | None:
    """The threshold in use on the axis of the histogram, None where there is none to draw."""
    if not place or not np.isfinite(curve.points.thresholds[place]):
        return None
    at = float(curve.points.thresholds[place])
    if not curve.points.reports_below:
        return at, "in use from here"
    return (at, "in use below") if curve.bins is None else (1 - at, "in use from here")
