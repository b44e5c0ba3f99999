"""The cheapest threshold: three figures, and a chart of the cost of every threshold on a score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offdiag.domain.number_text import Amounts
from offdiag.flags.warning import named
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.metric_text import PER_CASES
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.curves import one_against_rest
from offdiag.services.decisions.thresholds import ThresholdCosts, threshold_costs_of
from offdiag.services.what_if.costs import WhatIf
from offdiag.store.database import Database
from offdiag.store.evaluations_write import read_curves
from offdiag.store.run_costs import RunWithCosts
from offdiag_web.components.costs.ranking import amounts_of, interval_text
from offdiag_web.components.costs.threshold_chart import (
    errors_at,
    errors_text,
    threshold_chart,
)

_CLASS = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A cost per 1,000 examples with a title, and its details."""

    title: str
    cost: str
    interval: str | None
    facts: str
    is_honest: bool = False


def threshold_card(database: Database, found: WhatIf) -> dict[str, object] | None:
    """The card for the cheapest run with scores; None if it has no costs."""
    lever = found.scenario.lever
    ranked = sorted(
        (each for each in found.answers if each.run.score_columns and each.rank is not None),
        key=lambda each: each.rank or 0,
    )
    if lever is None or not ranked or found.frame.part:
        # Stored curves are of all examples.
        return None
    run = ranked[0].run
    n_classes = run.matrix.n_classes
    with database.read() as session:
        curves = read_curves(session, run.evaluation_id, {lever.actual, *range(n_classes)[:2]})
    curve = curves.get(lever.actual)
    if curve is None and n_classes == 2:
        # The scores are those of the positive class, and so are the thresholds.
        curve = curves.get(1 - lever.actual)
    if curve is None or not len(curve.points) or not curve.points.n_positive:
        return None
    return _card(found, run, curve)


def _card(found: WhatIf, run: RunWithCosts, curve: ScoreCurve) -> dict[str, object] | None:
    shares, code = found.scenario.prevalence, curve.code
    matrix, costs, place = run.matrix, found.scenario.effective, code
    # Intervals are computed class by class: two classes keep their order, as on the decisions
    # page.
    if matrix.n_classes > 2:
        place, matrix = _CLASS, one_against_rest(matrix, code)
        costs = _costs_against_rest(found, matrix, code)
        shares = None if shares is None else np.array([1 - shares[code], shares[code]])
    by_point = threshold_costs_of(replace(curve, code=place), matrix, costs, prevalence=shares)
    name = run.matrix.labels.names[code]
    # What the run costs is also in the ranking, with the same digits.
    amounts = amounts_of(found)
    currency = found.scenario.costs.currency
    unit = f"cost per {PER_CASES:,}" + ("" if currency is None else f", {currency}")
    chart = threshold_chart(by_point, amounts, name, unit=unit)
    if chart is None:
        return None
    return {
        "name": named(name),
        "run": run.name,
        "unit": unit,
        "figures": tuple(_figures(by_point, matrix, amounts, name)),
        "chart": chart,
        "how": _how(found, costs, name, place=place),
    }


def _costs_against_rest(found: WhatIf, matrix: ConfusionMatrix, code: int) -> CostMatrix:
    """The costs of one of several classes against the rest, taken from the lever."""
    lever, costs = found.scenario.lever, found.scenario.effective
    assert lever is not None  # noqa: S101  # checked by the caller
    others = [other for other in range(costs.n_classes) if other != code]
    missed = float(
        costs.weights[code, others].max()
        if lever.predicted is None
        else costs.weights[code, lever.predicted]
    )
    alarm = float(costs.weights[others, code].min()) if lever.predicted is None else lever.unit
    return cost_matrix(np.array([[0.0, alarm], [missed, 0.0]]), labels=matrix.labels)


def _figures(
    by_point: ThresholdCosts, matrix: ConfusionMatrix, amounts: Amounts, name: str
) -> list[Figure]:
    best, now, positive = by_point.best, by_point.in_use.value, by_point.positive
    assert best is not None  # noqa: S101  # checked by the caller
    assert best.cost.value is not None  # noqa: S101
    assert now is not None  # noqa: S101
    threshold = by_point.best_threshold
    # Predictions by the largest score of several classes follow no threshold and may cost less.
    is_cheaper = best.cost.value <= now
    missed, alarms = matrix.counts[[positive, 1 - positive], [1 - positive, positive]].tolist()
    found = [
        Figure(
            "Now",
            amounts.text(now * PER_CASES),
            interval_text(by_point.in_use, amounts),
            errors_text(missed, alarms, name),
        ),
        Figure(
            ("Best on these examples" if is_cheaper else "Best threshold, costs more than now")
            + (
                ": never"
                if threshold is None
                else f": from {by_point.points.threshold_text(threshold)}"
            ),
            amounts.text(best.cost.value * PER_CASES),
            interval_text(best.cost, amounts),
            errors_at(by_point, best.place, name),
        ),
    ]
    others = by_point.crossfitted
    if others is not None:
        found.append(
            Figure(
                "Honest: cross-validated",
                amounts.text(others.mean_cost * PER_CASES),
                None,
                errors_text(round(others.missed), round(others.false_alarms), name),
                is_honest=True,
            )
        )
    return found


def _how(found: WhatIf, costs: CostMatrix, name: str, *, place: int) -> str:
    missed, alarm = costs.weights[place, 1 - place], costs.weights[1 - place, place]
    text = (
        f"A missed {name} costs {cost_text(float(missed))}, a false alarm "
        f"{cost_text(float(alarm))}. The best threshold was chosen on the examples it is "
        "evaluated on, so its cost is optimistic; cross-validation chooses it on four fifths and "
        "pays on the rest, the mean of 20 splits: what to expect on new examples. Intervals and "
        "band: 95 %, with the threshold fixed."
    )
    if found.scenario.costs.n_classes > 2:
        return f"{name} against the rest: errors among the other classes are left out. {text}"
    return text
