"""Charts of scores: ROC and precision-recall curves, and histograms of scores by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from offdiag.domain.number_text import percent
from offdiag.metrics.scores.operating_points import OperatingPoints, reduced
from offdiag_web.charts.marks import RunStyle
from offdiag_web.charts.plot import (
    ENDS,
    QUARTERS,
    Frame,
    Tick,
    beside,
    box,
    grid,
    line,
    lines_of_runs,
    name_across,
    name_up,
    ring,
    step_line,
    ticks_across,
    ticks_up,
)
from offdiag_web.charts.svg import coordinate, drawing, readable, words

LARGE = Frame(left=34, top=26, width=300, height=300)
SMALL = Frame(left=18, top=8, width=132, height=132)

Point = tuple[float, float]


def roc_drawing(
    points: OperatingPoints, *, name: str, in_use: Point | None = None, is_small: bool = False
) -> Markup:
    """True positive rate over false positive rate; requires samples of both kinds.

    `in_use` is the false positive rate and the recall of the actual predictions.
    """
    frame = SMALL if is_small else LARGE
    return _roc(frame, line(frame, _rates(points, frame), "curve"), in_use=in_use, name=name)


def precision_recall_drawing(
    points: OperatingPoints,
    *,
    name: str,
    prevalence: float | None = None,
    in_use: Point | None = None,
    is_small: bool = False,
) -> Markup:
    """Precision over recall, in steps; requires positive samples.

    With a `prevalence`, as if that were the share of positive samples, which requires negative
    ones as well. `in_use` is the recall and the precision of the actual predictions.
    """
    frame = SMALL if is_small else LARGE
    return _precision_recall(
        frame,
        step_line(frame, _steps(points, frame, prevalence), "curve"),
        level=_share(points) if prevalence is None else prevalence,
        in_use=in_use,
        name=name,
    )


@dataclass(frozen=True, slots=True)
class RunPoints:
    """The points of one run, with the letter and line style that identify it in charts."""

    run_label: str
    style: RunStyle
    points: OperatingPoints


def roc_of_runs(runs: Sequence[RunPoints], *, name: str) -> Markup:
    """The ROC curves of runs over each other; requires examples of both kinds."""
    lines = [(run.run_label, run.style, _rates(run.points, LARGE)) for run in runs]
    return _roc(LARGE, lines_of_runs(LARGE, lines), in_use=None, name=name)


def precision_recall_of_runs(runs: Sequence[RunPoints], *, name: str) -> Markup:
    """Precision over recall of runs on the same examples, some of which are positive."""
    lines = [(run.run_label, run.style, _steps(run.points, LARGE, None)) for run in runs]
    curves = lines_of_runs(LARGE, lines, steps=True)
    level = _share(runs[0].points)
    return _precision_recall(LARGE, curves, level=level, in_use=None, name=name)


def _rates(points: OperatingPoints, frame: Frame) -> list[Point]:
    """False positive rates with recalls, at most as many as a frame can show."""
    shown = reduced(points, cells=frame.width)
    return list(zip(shown.false_positive_rate.tolist(), shown.recall.tolist(), strict=True))


def _steps(points: OperatingPoints, frame: Frame, prevalence: float | None) -> list[Point]:
    """Recalls with precisions where those are defined, starting at a recall of 0."""
    shown = reduced(points, cells=frame.width)
    recall, precision = shown.recall[1:], shown.precision(prevalence)[1:]
    is_defined = np.isfinite(precision)
    steps = list(zip(recall[is_defined].tolist(), precision[is_defined].tolist(), strict=True))
    return [(0.0, steps[0][1]), *steps] if steps else []


def _share(points: OperatingPoints) -> float:
    return points.n_positive / (points.n_positive + points.n_negative)


def _roc(frame: Frame, curve: str, *, in_use: Point | None, name: str) -> Markup:
    return _picture(
        frame,
        names=("false positive rate", "recall"),
        no_skill=line(frame, ((0, 0), (1, 1)), "no-skill"),
        no_skill_at=(0.62, 0.5),
        curve=curve,
        in_use=in_use,
        name=name,
    )


def _precision_recall(
    frame: Frame, curve: str, *, level: float, in_use: Point | None, name: str
) -> Markup:
    """Precision-recall curves in a frame; `level` is the precision without skill."""
    return _picture(
        frame,
        names=("recall", "precision"),
        no_skill=line(frame, ((0, level), (1, level)), "no-skill"),
        no_skill_at=(0.03, level + 0.02 if level < 0.9 else level - 0.06),
        curve=curve,
        in_use=in_use,
        name=name,
    )


def size_of(frame: Frame) -> tuple[int, int]:
    """Width and height of a picture with this frame."""
    is_small = frame is SMALL
    return frame.right + 10, frame.bottom + (20 if is_small else 38)


def _picture(
    frame: Frame,
    *,
    names: tuple[str, str],
    no_skill: str,
    no_skill_at: Point,
    curve: str,
    in_use: Point | None,
    name: str,
) -> Markup:
    is_small = frame is SMALL
    ticks = ENDS if is_small else QUARTERS
    width, height = size_of(frame)
    parts = [box(frame), *ticks_across(frame, ticks), *ticks_up(frame, ticks)]
    if not is_small:
        parts += [
            grid(frame, across=QUARTERS[1:-1], up=QUARTERS[1:-1]),
            name_across(frame, names[0]),
            name_up(frame, names[1]),
            words(
                "no skill",
                x=frame.x(no_skill_at[0]),
                y=frame.y(no_skill_at[1]),
                css_class="direct quiet",
            ),
        ]
    parts += [no_skill, curve]
    if in_use is not None:
        label, radius = ("", 4) if is_small else ("in use", 5)
        parts.append(ring(frame, *in_use, label, radius=radius))
    return drawing(
        *parts,
        shares=frame.area,
        width=width,
        height=height,
        css_class="plot-small" if is_small else "plot",
        name=name,
    )


UPPER = Frame(left=44, top=26, width=300, height=110)
LOWER = Frame(left=44, top=166, width=300, height=110)
Tone = Literal["plain", "correct", "error"]

_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
WIDTH, HEIGHT = UPPER.right + 10, LOWER.bottom + 38


@dataclass(frozen=True, slots=True)
class Spread:
    """One kind of case: its name with its count, and its shares by bin, which add up to 1.

    All shares are 0 if there are no examples of this kind. `edges` are the scores that bound the
    bins, one more than there are shares.
    """

    name: str
    shares: tuple[float, ...]
    edges: tuple[float, ...]


def spread_drawing(
    upper: Spread,
    lower: Spread,
    *,
    ticks: Sequence[Tick],
    score_name: str,
    name: str,
    threshold: tuple[float, str] | None = None,
    tones: tuple[Tone, Tone] = ("plain", "plain"),
) -> Markup:
    """Draw two histograms over the same bins of equal width.

    `ticks` are texts with their positions in 0..1; `threshold` is the position of the threshold in
    use, if there is one, with its caption. `tones` say whether a kind of samples is good or bad,
    or "plain" if it is neither.
    """
    return drawing(
        *_histogram(UPPER, upper, tones[0]),
        *_histogram(LOWER, lower, tones[1]),
        *ticks_across(LOWER, ticks),
        name_across(LOWER, score_name),
        *_threshold(threshold),
        width=WIDTH,
        height=HEIGHT,
        css_class="plot",
        name=name,
    )


def _tidy_share(largest: float) -> float:
    """The lowest printable upper end of the scale that includes the largest share."""
    return next((share for share in _TOPS if share >= largest), 1.0)


def _histogram(frame: Frame, spread: Spread, tone: Tone) -> list[str]:
    top = _tidy_share(max(*spread.shares, 0.0))
    bars = []
    size = frame.width / len(spread.shares)
    for place, share in enumerate(spread.shares):
        if share <= 0:
            continue
        height = max(share / top * frame.height, 1.0)
        low, high = spread.edges[place], spread.edges[place + 1]
        bar = (
            f'<rect class="bar bar-{tone}" x="{coordinate(frame.left + place * size + 0.5)}" '
            f'y="{coordinate(frame.bottom - height)}" width="{coordinate(size - 1)}" '
            f'height="{coordinate(height)}"/>'
        )
        text = f"{spread.name}: {percent(share, 1)} from {low:.3g} to {high:.3g}"
        bars.append(readable(bar, text, x=(low + high) / 2, y=share))
    title = words(spread.name, x=frame.left, y=frame.top - 7, css_class="axis-name")
    end = words(f"{top:.0%}", x=frame.left - 5, y=frame.top + 9, css_class="tick", anchor="end")
    return [box(frame), title, end, *bars]


def _threshold(in_use: tuple[float, str] | None) -> list[str]:
    if in_use is None:
        return []
    share = min(max(in_use[0], 0.0), 1.0)
    x = UPPER.x(share)
    label = beside(UPPER, share, in_use[1], y=UPPER.top + 13)
    path = (
        f"M{coordinate(x)} {UPPER.top}V{UPPER.bottom}M{coordinate(x)} {LOWER.top}V{LOWER.bottom}"
    )
    return [f'<path class="threshold" d="{path}"/>', label]
