"""Reliability diagram: observed shares over mean scores, with the number of samples per bin.

A bin with few samples says nothing about calibration and is left out of the line; its samples are
still counted in the bars below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag_web.charts.marks import RunStyle, marker
from offdiag_web.charts.plot import (
    QUARTERS,
    Frame,
    box,
    grid,
    line,
    lines_of_runs,
    name_across,
    name_up,
    ticks_across,
    ticks_up,
)
from offdiag_web.charts.svg import coordinate, drawing, words

UPPER = Frame(left=34, top=26, width=300, height=240)
SQUARE = Frame(left=34, top=26, width=300, height=300)
LOWER = Frame(left=34, top=300, width=300, height=70)
WIDTH, HEIGHT = UPPER.right + 10, LOWER.bottom + 38


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """A bin of scores from `low` to `high` and its samples.

    `score` is their mean score, `share` how often the event occurred, between `share_low` and
    `share_high` with 95 % confidence. A perfectly calibrated model would be between
    `calibrated_low` and `calibrated_high` for 9 of 10 sets of samples. All are None in a bin that
    is left out.
    """

    low: float
    high: float
    count: int
    score: float | None = None
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    calibrated_low: float | None = None
    calibrated_high: float | None = None


def reliability_drawing(
    bins: Sequence[ReliabilityBin], *, score_name: str, share_name: str, name: str
) -> Markup:
    """Draw bins in ascending order; at least one of them has samples."""
    points = [
        (each.score, each.share)
        for each in bins
        if each.score is not None and each.share is not None
    ]
    largest = max(each.count for each in bins)
    return drawing(
        box(UPPER),
        grid(UPPER, across=QUARTERS[1:-1], up=QUARTERS[1:-1]),
        *ticks_up(UPPER, QUARTERS),
        name_up(UPPER, share_name),
        *_band(bins),
        line(UPPER, ((0, 0), (1, 1)), "no-skill"),
        words("perfect", x=UPPER.x(0.66), y=UPPER.y(0.56), css_class="direct quiet"),
        *_whiskers(bins),
        line(UPPER, points, "curve"),
        *(_dot(*point) for point in points),
        box(LOWER),
        *_bars(bins, largest),
        *ticks_across(LOWER, QUARTERS),
        name_across(LOWER, score_name),
        name_up(LOWER, f"examples of a bin, up to {largest:,}"),
        shares=UPPER.area,
        width=WIDTH,
        height=HEIGHT,
        css_class="plot",
        name=name,
    )


def reliability_of_runs(
    runs: Sequence[tuple[str, RunStyle, Sequence[ReliabilityBin]]],
    *,
    score_name: str,
    share_name: str,
    name: str,
) -> Markup:
    """The shares of runs over each other, without the numbers of examples below."""
    lines = [
        (
            letter,
            style,
            [(b.score, b.share) for b in bins if b.score is not None and b.share is not None],
        )
        for letter, style, bins in runs
    ]
    return drawing(
        box(SQUARE),
        grid(SQUARE, across=QUARTERS[1:-1], up=QUARTERS[1:-1]),
        *ticks_across(SQUARE, QUARTERS),
        *ticks_up(SQUARE, QUARTERS),
        name_across(SQUARE, score_name),
        name_up(SQUARE, share_name),
        line(SQUARE, ((0, 0), (1, 1)), "no-skill"),
        words("perfect", x=SQUARE.x(0.66), y=SQUARE.y(0.56), css_class="direct quiet"),
        lines_of_runs(SQUARE, lines),
        *(
            f'<g class="{style.css_class}">{marker(style.shape, SQUARE.x(x), SQUARE.y(y))}</g>'
            for _, style, points in lines
            for x, y in points
        ),
        shares=SQUARE.area,
        width=SQUARE.right + 10,
        height=SQUARE.bottom + 38,
        css_class="plot",
        name=name,
    )


def _band(bins: Sequence[ReliabilityBin]) -> list[str]:
    """A box over the width of each bin: there are no scores to calibrate between bins."""
    parts = []
    for each in bins:
        if each.calibrated_low is None or each.calibrated_high is None:
            continue
        left, right = coordinate(UPPER.x(each.low)), coordinate(UPPER.x(each.high))
        top, bottom = UPPER.y(each.calibrated_high), UPPER.y(each.calibrated_low)
        parts.append(f"M{left} {coordinate(top)}H{right}V{coordinate(bottom)}H{left}Z")
    return [f'<path class="calibrated" d="{"".join(parts)}"/>'] if parts else []


def _whiskers(bins: Sequence[ReliabilityBin]) -> list[str]:
    parts = []
    for each in bins:
        if each.score is None or each.share_low is None or each.share_high is None:
            continue
        x = coordinate(UPPER.x(each.score))
        low, high = coordinate(UPPER.y(each.share_low)), coordinate(UPPER.y(each.share_high))
        parts.append(f"M{x} {low}V{high}")
    return [f'<path class="whisker" d="{"".join(parts)}"/>'] if parts else []


def _dot(score: float, share: float) -> str:
    x, y = coordinate(UPPER.x(score)), coordinate(UPPER.y(share))
    return f'<circle class="dot" cx="{x}" cy="{y}" r="3"/>'


def _bars(bins: Sequence[ReliabilityBin], largest: int) -> list[str]:
    parts = []
    for each in bins:
        if not each.count or not largest:
            continue
        left, right = LOWER.x(each.low), LOWER.x(each.high)
        # One sample among a million is still a sample, so every bar is at least a pixel high.
        height = max(each.count / largest * LOWER.height, 1.0)
        parts.append(
            f'<rect class="bar" x="{coordinate(left + 0.5)}" '
            f'y="{coordinate(LOWER.bottom - height)}" '
            f'width="{coordinate(max(right - left - 1, 0.5))}" height="{coordinate(height)}"/>'
        )
    return parts
