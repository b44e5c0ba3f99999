"""Expected costs over thresholds, as a chart and a table, per 1,000 examples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.sentences import typeset
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.decisions.thresholds import CostPoint, ThresholdCosts
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.costs.ranking import interval_text
from offdiag_web.components.costs.threshold_chart import threshold_chart
from offdiag_web.components.curves import tidy_places


def amount_text(cost: float, amounts: Amounts) -> str:
    """A cost per sample, written per 1,000 examples."""
    return amounts.text(cost * PER_CASES)


def difference_text(value: MetricValue, amounts: Amounts) -> str:
    """ "−80 per 1,000 (95 % CI −120 to −41)"."""
    if value.value is None:
        return value.undefined_text
    text = f"{amounts.signed(value.value * PER_CASES)} per 1,000"
    if value.ci_low is None or value.ci_high is None:
        return text
    low, high = (amounts.signed(end * PER_CASES) for end in (value.ci_low, value.ci_high))
    return f"{text} (95 % CI {low} to {high})"


def outcome_text(value: MetricValue) -> str:
    """What can be concluded from the paired interval of a difference of costs."""
    if value.value is None or value.ci_low is None or value.ci_high is None:
        return "Whether this is significant is not known."
    if value.ci_high < 0:
        return "That costs significantly less."
    if value.ci_low > 0:
        return "That costs significantly more."
    return "The difference is not significant."


def threshold_text(found: ThresholdCosts, threshold: float) -> str:
    """A threshold with four significant digits, or as many as flag the same examples."""
    return found.points.threshold_text(threshold)


_SHARES_FLAGGED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """One threshold as a line of the table; `marks` say what is special about it."""

    threshold: str
    marks: str
    flagged: str
    missed: str
    raised: str
    cost: str
    interval: str
    is_best: bool


def threshold_view(
    found: ThresholdCosts, matrix: ConfusionMatrix, *, currency: str | None
) -> dict[str, object]:
    """Present the thresholds of a run whose predictions gave `matrix`."""
    label = matrix.labels.names[found.positive]
    name, unit = quoted_name(label), "" if currency is None else f", {currency}"
    amounts = amounts_for(
        abs(cost) * PER_CASES
        for cost in (found.nothing, found.everything, found.in_use.value or 0.0)
        if math.isfinite(cost)
    )
    return {
        "positive": label,
        "rule": f"An example is predicted {name} when its score of {name} is at least the "
        "threshold.",
        "sentences": tuple(_sentences(found, name, amounts)),
        "chart": threshold_chart(found, amounts, label, unit=f"cost per 1,000{unit}"),
        "lines": tuple(_lines(found, amounts)),
        "best": None if found.best is None else _chosen_text(found),
        "implied": None if found.at_implied is None else _implied_text(found),
        "note": _note(found),
    }


def _sentences(found: ThresholdCosts, name: str, amounts: Amounts) -> Iterator[str]:
    if found.best is None or found.best.cost.value is None:
        yield "No cost is defined: one of the classes has no examples."
        return
    interval = interval_text(found.best.cost, amounts)
    yield (
        f"{_best_action(found, name)} costs least on these examples: "
        f"{amount_text(found.best.cost.value, amounts)} per 1,000"
        f"{f' (95 % CI {interval})' if interval else ''}."
    )
    yield _against_use(found, amounts)
    luck = (
        "The threshold was chosen on the examples it is evaluated on, so these numbers and the "
        "interval are optimistic"
    )
    if found.crossfitted is None:
        yield f"{luck}; there are too few examples to estimate by how much."
    else:
        yield (
            f"{luck}: in 5-fold cross-validation the choice costs "
            f"{amount_text(found.crossfitted.mean_cost, amounts)} per 1,000."
        )
    yield _from_the_costs(found, name, amounts)


def _best_action(found: ThresholdCosts, name: str) -> str:
    assert found.best is not None  # noqa: S101  # checked by the caller
    if found.best.place == 0:
        return f"Never predicting {name}"
    if found.best.place == len(found.points) - 1:
        return f"Always predicting {name}"
    return (
        f"Predicting {name} at scores of at least "
        f"{threshold_text(found, _threshold(found, found.best.place))}"
    )


def _against_use(found: ThresholdCosts, amounts: Amounts) -> str:
    if found.in_use.value is None:
        return f"The cost of the predictions of the run is {found.in_use.undefined_text}."
    cost = f"The predictions of the run cost {amount_text(found.in_use.value, amounts)} per 1,000"
    if found.change is None:
        return (
            f"{cost}; no single threshold gives them, so the two are paired only once the new "
            "predictions are saved as a run and compared."
        )
    if found.best is not None and found.best.place == found.in_use_place:
        # Only the examples would tell whether the predictions are the same.
        return f"{cost}; the same number of each error as from this threshold on."
    if (gap := found.change.difference.value) is None:
        return f"{cost}; the change is {found.change.difference.undefined_text}."
    # Without an interval, which would be that of a threshold not chosen for being cheapest.
    return f"{cost}; the change is {amounts.signed(gap * PER_CASES)} per 1,000 on these examples."


def _from_the_costs(found: ThresholdCosts, name: str, amounts: Amounts) -> str:
    if found.implied is None:
        return "These costs imply no threshold: errors cost no more than correct predictions."
    text = _implied_text(found)
    if not found.are_probabilities:
        return (
            "The scores are not probabilities, so the threshold that the costs imply "
            f"({text} for a probability) cannot be compared with them."
        )
    if not 0 <= found.implied <= 1:
        return f"By the costs alone one prediction is always cheaper: {text} is not a probability."
    at = found.at_implied
    costs = (
        ""
        if at is None or at.cost.value is None
        else f"; on these examples that costs {amount_text(at.cost.value, amounts)} per 1,000"
    )
    return (
        f"If the scores are calibrated, the costs imply predicting {name} at scores of at least "
        f"{text}{costs}."
    )


def _lines(found: ThresholdCosts, amounts: Amounts) -> Iterator[ThresholdLine]:
    last = len(found.points) - 1
    marks: dict[int, list[str]] = {}
    marked: dict[int, CostPoint] = {}
    if found.best is not None:
        marks.setdefault(found.best.place, []).append("cheapest")
        marked[found.best.place] = found.best
    if found.in_use_place is not None:
        marks.setdefault(found.in_use_place, []).append("in use")
        marked.setdefault(found.in_use_place, CostPoint(found.in_use_place, found.in_use))
    if found.at_implied is not None:
        marks.setdefault(found.at_implied.place, []).append(
            f"implied by the costs, {_implied_text(found)}"
        )
        marked.setdefault(found.at_implied.place, found.at_implied)
    marks.setdefault(0, []).append("flag nothing")
    marks.setdefault(last, []).append("flag everything")
    tidy = tidy_places(found.points, _SHARES_FLAGGED, are_probabilities=found.are_probabilities)
    for place in sorted({*marks, *(place for place, _ in tidy)}):
        cost = float(found.means[place])
        point = marked.get(place)
        interval = None if point is None else interval_text(point.cost, amounts)
        points = found.points
        yield ThresholdLine(
            threshold="none" if place == 0 else threshold_text(found, _threshold(found, place)),
            marks=", ".join(marks.get(place, [])),
            flagged=numbers.count(int(points.reported[place])),
            missed=numbers.hits_of(
                points.n_positive - int(points.true_positives[place]), points.n_positive
            ),
            raised=numbers.hits_of(int(points.false_positives[place]), points.n_negative),
            cost=amount_text(cost, amounts) if math.isfinite(cost) else "undefined",
            interval=interval or "",
            is_best=found.best is not None and place == found.best.place,
        )


def _threshold(found: ThresholdCosts, place: int) -> float:
    return _finite(float(found.points.thresholds[place]))


def _finite(threshold: float) -> float:
    """Above the largest number of single precision there is only infinity."""
    return min(threshold, float(np.finfo(np.float32).max))


def _chosen_text(found: ThresholdCosts) -> str:
    if found.best is not None and found.best.place == 0:
        return "never"
    assert found.best is not None  # noqa: S101  # checked by the caller
    return f"at scores of at least {threshold_text(found, _threshold(found, found.best.place))}"


def _implied_text(found: ThresholdCosts) -> str:
    assert found.implied is not None  # noqa: S101  # checked by the callers
    return threshold_text(found, found.implied)


def _note(found: ThresholdCosts) -> str:
    method = None if found.best is None else found.best.cost.ci_method
    parts = []
    if method is not None:
        parts.append(f"Intervals: {typeset(method)}, with the threshold fixed.")
    if found.in_use_place is not None:
        parts.append("In use: the threshold that gives the counts of the predictions.")
    if not found.has_all:
        parts.append(
            f"{numbers.count(len(found.points))} of {numbers.count(found.points.n_thresholds)} "
            "thresholds are stored, including every one that can be cheapest as long as errors "
            "cost more than correct predictions."
        )
    return " ".join(parts)
