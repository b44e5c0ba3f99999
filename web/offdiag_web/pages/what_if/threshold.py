"""Which threshold pays: three figures and what every threshold on a score costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.costs.threshold import SideCosts, side_costs
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreCurve, of_other_class
from offdiag.services.curves import one_against_rest
from offdiag.services.decisions.thresholds import ThresholdCosts, threshold_costs_of
from offdiag.services.what_if.costs import WhatIf
from offdiag.store.database import Database
from offdiag.store.evaluations_write import read_curves
from offdiag.store.run_costs import RunWithCosts
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.costs.ranking import PER
from offdiag_web.components.numbers import Amounts, amounts_for
from offdiag_web.pages.what_if.threshold_chart import ThresholdCurve, threshold_curve

_CLASS = 1
_QUANTILE = 1.96
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A cost per 1,000 examples under a title, and what it comes from."""

    title: str
    cost: str
    facts: str
    is_honest: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdCard:
    """The figures and the chart for one class of one run; `how` says what is priced."""

    name: str
    run: str
    figures: tuple[Figure, ...]
    chart: Markup
    how: str


def threshold_card(database: Database, found: WhatIf) -> ThresholdCard | None:
    """Read the curve of the cheapest run with scores; None where nothing can be priced."""
    lever = found.scenario.lever
    ranked = sorted(
        (each for each in found.answers if each.run.score_columns and each.rank is not None),
        key=lambda each: each.rank or 0,
    )
    if lever is None or not ranked or found.frame.part:
        # The curves that are kept are of all examples.
        return None
    run = ranked[0].run
    n_classes = run.matrix.n_classes
    with database.read() as session:
        curves = read_curves(session, run.evaluation_id, {lever.actual, *range(n_classes)[:2]})
    curve = curves.get(lever.actual)
    if curve is None and n_classes == 2 and 1 - lever.actual in curves:
        curve = of_other_class(curves[1 - lever.actual])
    if curve is None or not len(curve.points) or not curve.points.n_positive:
        return None
    return _card(found, run, curve)


def _card(found: WhatIf, run: RunWithCosts, curve: ScoreCurve) -> ThresholdCard | None:
    lever, prevalence = found.scenario.lever, found.scenario.prevalence
    assert lever is not None  # noqa: S101  # The caller asked.
    code = lever.actual
    matrix = one_against_rest(run.matrix, code)
    costs = _costs_against_rest(found, matrix)
    shares = None if prevalence is None else np.array([1 - prevalence[code], prevalence[code]])
    priced = threshold_costs_of(replace(curve, code=_CLASS), matrix, costs, prevalence=shares)
    if priced.best is None or priced.best.cost.value is None or priced.in_use.value is None:
        return None
    name = run.matrix.labels.names[code]
    amounts = amounts_for([priced.in_use.value * PER, priced.best.cost.value * PER])
    return ThresholdCard(
        name=name,
        run=run.name,
        figures=tuple(_figures(priced, matrix, amounts, name)),
        chart=_chart(priced, side_costs(costs, _CLASS, shares), amounts, name),
        how=_how(found, costs, name),
    )


def _costs_against_rest(found: WhatIf, matrix: ConfusionMatrix) -> CostMatrix:
    """The prices of the class against the rest: those of the lever where there are more."""
    lever, costs = found.scenario.lever, found.scenario.effective
    assert lever is not None  # noqa: S101  # The caller asked.
    code = lever.actual
    if costs.n_classes == 2:
        order = [1 - code, code]
        return cost_matrix(costs.weights[np.ix_(order, order)], labels=matrix.labels)
    others = [other for other in range(costs.n_classes) if other != code]
    missed = float(
        costs.weights[code, others].max()
        if lever.predicted is None
        else costs.weights[code, lever.predicted]
    )
    alarm = float(costs.weights[others, code].min()) if lever.predicted is None else lever.unit
    return cost_matrix(np.array([[0.0, alarm], [missed, 0.0]]), labels=matrix.labels)


def _figures(
    priced: ThresholdCosts, matrix: ConfusionMatrix, amounts: Amounts, name: str
) -> list[Figure]:
    points, best = priced.points, priced.best
    assert best is not None  # noqa: S101  # The caller asked.
    assert best.cost.value is not None  # noqa: S101
    assert priced.in_use.value is not None  # noqa: S101
    at = best.place
    threshold = priced.best_threshold
    found = [
        Figure(
            "Now",
            amounts.text(priced.in_use.value * PER),
            _facts(int(matrix.counts[_CLASS, 0]), int(matrix.counts[0, _CLASS]), name),
        ),
        Figure(
            "Best on these examples: "
            + ("never" if threshold is None else f"from {threshold:.3g}"),
            amounts.text(best.cost.value * PER),
            _said(points, at, name),
        ),
    ]
    others = priced.crossfitted
    if others is not None:
        found.append(
            Figure(
                "Honest: cross-validated",
                amounts.text(others.mean_cost * PER),
                _facts(round(others.missed), round(others.false_alarms), name),
                is_honest=True,
            )
        )
    return found


def _facts(missed: int, alarms: int, name: str) -> str:
    alarm = numbers.plural(alarms, "false alarm")
    # Beside a number a class that is called "3" would be read as one.
    shown = quoted_name(name) if name[:1].isdigit() else numbers.shortened(name)
    return f"{numbers.count(missed)} {shown} missed, {alarm}"


def _said(points: OperatingPoints, at: int, name: str) -> str:
    missed = points.n_positive - int(points.true_positives[at])
    return _facts(missed, int(points.false_positives[at]), name)


def _chart(priced: ThresholdCosts, prices: SideCosts, amounts: Amounts, name: str) -> Markup:
    points, best = priced.points, priced.best
    assert best is not None  # noqa: S101  # The caller asked.
    assert priced.in_use.value is not None  # noqa: S101
    costs = priced.means * PER
    reach = _QUANTILE * _standard_errors(priced, prices) * PER
    short = numbers.shortened(name)
    is_drawn = np.isfinite(points.thresholds) & np.isfinite(costs)
    places = np.flatnonzero(is_drawn)[::-1]
    is_best = places == best.place
    lowest = int(is_best.argmax() if is_best.any() else np.nanargmin(costs[places]))
    threshold = float(points.thresholds[places[lowest]])
    implied = priced.implied if priced.are_probabilities else None
    text = f"lowest cost {amounts.text(float(costs[places[lowest]]))} from {threshold:.3g}"
    return threshold_curve(
        ThresholdCurve(
            points.thresholds[places],
            costs[places],
            (costs - reach)[places],
            (costs + reach)[places],
            [_said(points, at, short) for at in places],
            lowest,
            priced.in_use.value * PER,
            implied if implied is not None and 0 < implied < 1 else None,
        ),
        x_title=f"Predict {short} when its score is at least",
        now_text=f"now, largest score: {amounts.text(priced.in_use.value * PER)}",
        best_text=text,
        name=f"Cost of each threshold on the score of {name}: {text}",
    )


def _standard_errors(priced: ThresholdCosts, prices: SideCosts) -> Floats:
    """Of the cost per example at each threshold; zero at declared shares, which are not drawn."""
    points = priced.points
    n = points.n_positive + points.n_negative
    if prices.share is not None or n < 2:
        return np.zeros(len(points))
    squares = SideCosts(
        prices.hit**2, prices.miss**2, prices.false_alarm**2, prices.right_rejection**2
    ).means(
        points.true_positives,
        points.false_positives,
        n_positive=points.n_positive,
        n_negative=points.n_negative,
    )
    return np.asarray(np.sqrt((squares - priced.means**2).clip(min=0.0) / n))


def _how(found: WhatIf, costs: CostMatrix, name: str) -> str:
    missed, alarm = float(costs.weights[_CLASS, 0]), float(costs.weights[0, _CLASS])
    text = (
        f"A missed {name} costs {missed:g}, a false alarm {alarm:g}. The best threshold was "
        "chosen on the examples it is evaluated on, so its cost is optimistic; cross-validation "
        "chooses it on four fifths and pays on the rest, the mean of 20 "
        "splits: what to expect on new examples. Band: 95 % interval of each threshold."
    )
    if found.scenario.costs.n_classes > 2:
        return f"{name} against the rest: errors among the other classes are left out. {text}"
    return text
