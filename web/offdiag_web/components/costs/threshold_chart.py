"""Chart of the cost of every threshold on a score, with the best one and the one costs imply.

The choice is made where scores are small and costs are low, which axes that begin at zero would
compress into a corner. Names are next to their lines, never on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.domain.number_text import Amounts
from offdiag.metrics.intervals.costs import threshold_bounds
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.decisions.thresholds import ThresholdCosts
from offdiag_web.charts.plot import Frame, band, box, grid, name_across, ring, step_line
from offdiag_web.charts.svg import coordinate, drawing, reading, tidy_at_least, words
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name

Floats = NDArray[np.float64]


def threshold_chart(
    found: ThresholdCosts, amounts: Amounts, name: str, *, unit: str
) -> Markup | None:
    """The chart for class `name`; None if no cost is defined."""
    points, best, in_use = found.points, found.best, found.in_use.value
    if best is None or best.cost.value is None or in_use is None:
        return None
    costs = found.means * PER_CASES
    ends = threshold_bounds(
        found.sides,
        points.true_positives,
        points.false_positives,
        n_positive=points.n_positive,
        n_negative=points.n_negative,
    )
    short = numbers.shortened(name)
    places = np.flatnonzero(np.isfinite(points.thresholds) & np.isfinite(costs))[::-1]
    is_best = places == best.place
    lowest = int(is_best.argmax() if is_best.any() else np.nanargmin(costs[places]))
    threshold = float(points.thresholds[places[lowest]])
    cost = amounts.text(float(costs[places[lowest]]))
    text = f"lowest cost {cost} from {points.threshold_text(threshold)}"
    implied = found.implied if found.are_probabilities else None
    return drawn_curve(
        ThresholdCurve(
            points.thresholds[places],
            costs[places],
            ends.low[places] * PER_CASES,
            ends.high[places] * PER_CASES,
            [errors_at(found, at, short) for at in places],
            lowest,
            in_use * PER_CASES,
            implied if implied is not None and 0 < implied < 1 else None,
            points.threshold_text,
        ),
        x_title=f"Predict {short} when its score is at least",
        y_title=unit,
        now_text=f"now: {amounts.text(in_use * PER_CASES)}",
        best_text=text,
        name=f"Cost of each threshold on the score of {name}: {text}",
    )


def errors_at(found: ThresholdCosts, place: int, name: str) -> str:
    """The errors of one of the thresholds, as `errors_text`."""
    points = found.points
    missed = points.n_positive - int(points.true_positives[place])
    return errors_text(missed, int(points.false_positives[place]), name)


def errors_text(missed: int, alarms: int, name: str) -> str:
    """ "3 ill missed, 1 false alarm"."""
    alarm = numbers.plural(alarms, "false alarm")
    # A class called "3" next to a number would be read as a number.
    shown = quoted_name(name) if name[:1].isdigit() else numbers.shortened(name)
    return f"{numbers.count(missed)} {shown} missed, {alarm}"


WIDTH, HEIGHT = 1200, 316
FRAME = Frame(left=64, top=60, width=1110, height=208)
_MOST_POINTS = 400
_MOST_READ = 100
_STEPS = (1.0, 2.0, 5.0)
_TICKS = 5
_LOWEST_SCORE = 1e-4
_NAMED_ON_THE_RIGHT = 0.6
_LEAST_ABOVE = 1e-6
_AS_GOOD_AS_NOTHING = 1e-4


@dataclass(frozen=True)
class ThresholdCurve:
    """Thresholds (n,), rising, and what each costs with its interval, all (n,) and finite.

    `said` describes each one, such as how many examples are missed. `best` is the index of the
    lowest cost; `now` is the cost of the actual predictions and `implied` the threshold that
    calibrated scores would ask for, None if there is none. `text` formats a threshold.
    """

    thresholds: Floats
    costs: Floats
    low: Floats
    high: Floats
    said: Sequence[str]
    best: int
    now: float | None
    implied: float | None
    text: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    is_logarithmic: bool

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[str, float]]:
        if self.is_logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [step * 10.0**power for power in powers for step in _STEPS]
        else:
            step = float(tidy_at_least((self.high - self.low) / _TICKS))
            first = math.ceil(self.low / step)
            found = [step * each for each in range(first, math.floor(self.high / step) + 1)]
        inside = [value for value in found if self.low <= value <= self.high]
        return [(f"{value:,.4g}", self.at(value)) for value in inside]


def drawn_curve(
    curve: ThresholdCurve, *, x_title: str, y_title: str, now_text: str, best_text: str, name: str
) -> Markup:
    """Draw the curve with its band; `name` describes what it shows."""
    across = _across(curve.thresholds)
    up = _up(curve)
    every = max(1, len(curve.thresholds) // _MOST_POINTS)
    places = {*range(0, len(curve.thresholds), every), curve.best, len(curve.thresholds) - 1}
    shown = sorted(places)
    points = [
        (across.at(float(curve.thresholds[at])), up.at(float(curve.costs[at]))) for at in shown
    ]
    best = (across.at(float(curve.thresholds[curve.best])), up.at(float(curve.costs[curve.best])))
    return drawing(
        grid(FRAME, across=[], up=up.ticks),
        box(FRAME),
        *_ticks(across.ticks, up.ticks),
        name_across(FRAME, x_title, below=40),
        words(y_title, x=0, y=14, css_class="axis-name"),
        band(
            FRAME,
            [
                (x, up.at(float(curve.low[at])), up.at(float(curve.high[at])))
                for at, (x, _) in zip(shown, points, strict=True)
            ],
            "band",
        ),
        step_line(FRAME, points, "curve"),
        *_now(curve.now, up, now_text, is_left=best[0] > 0.5),
        *_uprights(curve, across, best[0], best_text),
        ring(FRAME, *best, ""),
        *_readings(curve, shown, points),
        width=WIDTH,
        height=HEIGHT,
        css_class="plot threshold-plot",
        name=name,
    )


def _across(thresholds: Floats) -> _Axis:
    # One threshold is slightly above the largest score; there nothing is flagged.
    if thresholds[0] >= 0 and thresholds[-1] <= 1 + _LEAST_ABOVE:
        positive = thresholds[thresholds > 0]
        low = max(float(positive[0]), _LOWEST_SCORE) if len(positive) else _LOWEST_SCORE
        return _Axis(min(low, 0.5), 1.0, is_logarithmic=True)
    low, high = float(thresholds[0]), float(thresholds[-1])
    return _Axis(low, high if high > low else low + 1.0, is_logarithmic=False)


def _up(curve: ThresholdCurve) -> _Axis:
    values = [*curve.costs.tolist(), *([] if curve.now is None else [curve.now])]
    low, high = min(values), max(values)
    if low <= high * _AS_GOOD_AS_NOTHING:
        low = min(low, 0.0)
        return _Axis(low, high if high > low else low + 1.0, is_logarithmic=False)
    # Show the lower end of the band near the best, but no lower than half the lowest cost.
    low = max(low / 2, min(low, float(curve.low[curve.best])))
    return _Axis(low * 0.95, high * 1.05, is_logarithmic=True)


def _readings(
    curve: ThresholdCurve, shown: Sequence[int], points: Sequence[tuple[float, float]]
) -> Iterator[str]:
    every = max(1, len(shown) // _MOST_READ)
    for place, (at, (across, up)) in enumerate(zip(shown, points, strict=True)):
        if place % every and at != curve.best:
            continue
        threshold, cost = float(curve.thresholds[at]), float(curve.costs[at])
        text = f"from {curve.text(threshold)}: cost {cost:,.4g}, {curve.said[at]}"
        yield reading(text, FRAME.x(across), FRAME.y(up), values=(threshold, cost))


def _ticks(across: Sequence[tuple[str, float]], up: Sequence[tuple[str, float]]) -> Iterator[str]:
    for text, at in across:
        yield words(text, x=FRAME.x(at), y=FRAME.bottom + 15, css_class="tick", anchor="middle")
    for text, at in up:
        yield words(text, x=FRAME.left - 5, y=FRAME.y(at) + 4, css_class="tick", anchor="end")


def _now(now: float | None, up: _Axis, text: str, *, is_left: bool) -> Iterator[str]:
    """A horizontal line, named on the side away from the lowest cost."""
    if now is None:
        return
    y = FRAME.y(up.at(now))
    yield f'<path class="no-skill" d="M{FRAME.left} {coordinate(y)}H{FRAME.right}"/>'
    yield words(
        text,
        x=FRAME.left + 6 if is_left else FRAME.right - 4,
        y=y - 6,
        css_class="direct",
        anchor="start" if is_left else "end",
    )


def _uprights(curve: ThresholdCurve, across: _Axis, best: float, best_text: str) -> Iterator[str]:
    """The best threshold and the implied one, each named on its own line above the frame."""
    yield from _upright(best, best_text, row=0, css_class="now", of_text="direct")
    if curve.implied is not None:
        text = f"{curve.text(curve.implied)}, if scores were calibrated"
        at = across.at(curve.implied)
        yield from _upright(at, text, row=1, css_class="threshold", of_text="direct quiet")


def _upright(at: float, text: str, *, row: int, css_class: str, of_text: str) -> Iterator[str]:
    x = FRAME.x(at)
    yield f'<path class="{css_class}" d="M{coordinate(x)} {FRAME.top}V{FRAME.bottom}"/>'
    yield words(
        text,
        x=x,
        y=FRAME.top - 6 - 20 * row,
        css_class=of_text,
        anchor="start" if at <= _NAMED_ON_THE_RIGHT else "end",
    )
