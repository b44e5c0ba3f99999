"""Cost over threshold across a whole card: logarithmic axes show rare classes and dear errors.

What is decided lies where scores are small and costs are low; on axes that begin at zero both
would be pressed into a corner. Names stand beside their lines, never on one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag_web.charts.plot import Frame, box, grid, name_across, ring, step_line
from offdiag_web.charts.svg import coordinate, drawing, reading, tidy_at_least, words

WIDTH, HEIGHT = 1200, 316
FRAME = Frame(left=64, top=50, width=1110, height=214)
_MOST_POINTS = 400
_MOST_READ = 100
_STEPS = (1.0, 2.0, 5.0)
_TICKS = 5
_LOWEST_SCORE = 1e-4
_NAMED_ON_THE_RIGHT = 0.6
_LEAST_ABOVE = 1e-6
_AS_GOOD_AS_NOTHING = 1e-4

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdCurve:
    """Thresholds (n,), rising, and what each costs with its interval, all (n,) and finite.

    `said` says for each what it comes from, such as how many examples are missed.
    `best` is the place of the lowest cost; `now` what the predictions cost as they are and
    `implied` the threshold that calibrated scores would ask for, None where there is none.
    """

    thresholds: Floats
    costs: Floats
    low: Floats
    high: Floats
    said: Sequence[str]
    best: int
    now: float | None
    implied: float | None


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


def threshold_curve(
    curve: ThresholdCurve, *, x_title: str, now_text: str, best_text: str, name: str
) -> Markup:
    """Draw the curve with its band; `name` says in words what it shows."""
    across = _across(curve.thresholds)
    up = _up(curve)
    shown = _thinned(curve)
    points = [
        (across.at(float(curve.thresholds[at])), up.at(float(curve.costs[at]))) for at in shown
    ]
    best = (across.at(float(curve.thresholds[curve.best])), up.at(float(curve.costs[curve.best])))
    return drawing(
        grid(FRAME, across=[], up=up.ticks),
        box(FRAME),
        *_ticks(across.ticks, up.ticks),
        name_across(FRAME, x_title),
        words("cost per 1,000", x=0, y=14, css_class="axis-name"),
        _band(curve, shown, across, up),
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
    # One threshold lies a little above the largest score, at which nothing is flagged.
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
    # The lower end of the band near the best shows as far as half the lowest cost.
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
        text = f"from {threshold:.3g}: cost {cost:,.4g}, {curve.said[at]}"
        yield reading(text, FRAME.x(across), FRAME.y(up), values=(threshold, cost))


def _thinned(curve: ThresholdCurve) -> list[int]:
    every = max(1, len(curve.thresholds) // _MOST_POINTS)
    places = {*range(0, len(curve.thresholds), every), curve.best, len(curve.thresholds) - 1}
    return sorted(places)


def _ticks(across: Sequence[tuple[str, float]], up: Sequence[tuple[str, float]]) -> Iterator[str]:
    for text, at in across:
        yield words(text, x=FRAME.x(at), y=FRAME.bottom + 15, css_class="tick", anchor="middle")
    for text, at in up:
        yield words(text, x=FRAME.left - 5, y=FRAME.y(at) + 4, css_class="tick", anchor="end")


def _band(curve: ThresholdCurve, shown: Sequence[int], across: _Axis, up: _Axis) -> str:
    def corner(at: int, ends: Floats) -> str:
        x = FRAME.x(across.at(float(curve.thresholds[at])))
        return f"{coordinate(x)} {coordinate(FRAME.y(up.at(float(ends[at]))))}"

    corners = [corner(at, curve.high) for at in shown]
    corners += [corner(at, curve.low) for at in reversed(shown)]
    return f'<path class="band" d="M{"L".join(corners)}Z"/>'


def _now(now: float | None, up: _Axis, text: str, *, is_left: bool) -> Iterator[str]:
    """A level line, named on the side where the lowest costs are not."""
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
    """The best threshold and the implied one, each named in a line of its own above the frame."""
    yield from _upright(best, best_text, row=0, css_class="now", of_text="direct")
    if curve.implied is not None:
        text = f"{curve.implied:.3g}, if scores were calibrated"
        at = across.at(curve.implied)
        yield from _upright(at, text, row=1, css_class="threshold", of_text="direct quiet")


def _upright(at: float, text: str, *, row: int, css_class: str, of_text: str) -> Iterator[str]:
    x = FRAME.x(at)
    yield f'<path class="{css_class}" d="M{coordinate(x)} {FRAME.top}V{FRAME.bottom}"/>'
    yield words(
        text,
        x=x,
        y=FRAME.top - 6 - 15 * row,
        css_class=of_text,
        anchor="start" if at <= _NAMED_ON_THE_RIGHT else "end",
    )
