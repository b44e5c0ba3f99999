"""ROC and precision-recall curves: large for one class, small for many beside one another.

The curves end at axes of one scale, so that their shapes compare. A ring marks the answers that
were given. The dashed line is what scores without any skill give.
"""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from offdiag.metrics.scores.operating_points import OperatingPoints, reduced
from offdiag_web.charts.plot import (
    ENDS,
    QUARTERS,
    Frame,
    box,
    grid,
    line,
    name_across,
    name_up,
    ring,
    step_line,
    ticks_across,
    ticks_up,
)
from offdiag_web.charts.svg import drawing, words

LARGE = Frame(left=34, top=26, width=300, height=300)
SMALL = Frame(left=18, top=8, width=132, height=132)

Point = tuple[float, float]


def roc_drawing(
    points: OperatingPoints, *, name: str, in_use: Point | None = None, is_small: bool = False
) -> Markup:
    """True over false positive rate; both kinds of cases exist.

    `in_use` is the false positive rate and the recall of the answers that were given.
    """
    frame = SMALL if is_small else LARGE
    shown = reduced(points, cells=frame.width)
    curve = zip(shown.false_positive_rate.tolist(), shown.recall.tolist(), strict=True)
    return _picture(
        frame,
        names=("false positive rate", "recall"),
        no_skill=line(frame, ((0, 0), (1, 1)), "no-skill"),
        no_skill_at=(0.62, 0.5),
        curve=line(frame, curve, "curve"),
        in_use=in_use,
        name=name,
    )


def precision_recall_drawing(
    points: OperatingPoints,
    *,
    name: str,
    prevalence: float | None = None,
    in_use: Point | None = None,
    is_small: bool = False,
) -> Markup:
    """Precision over recall, in steps; positive cases exist.

    With a `prevalence`, as if that were the share of positive cases, which takes negative ones
    as well. `in_use` is the recall and the precision of the answers that were given.
    """
    frame = SMALL if is_small else LARGE
    shown = reduced(points, cells=frame.width)
    recall, precision = shown.recall[1:], shown.precision(prevalence)[1:]
    is_defined = np.isfinite(precision)
    steps = list(zip(recall[is_defined].tolist(), precision[is_defined].tolist(), strict=True))
    start = [(0.0, steps[0][1])] if steps else []
    share = points.n_positive / (points.n_positive + points.n_negative)
    level = share if prevalence is None else prevalence
    return _picture(
        frame,
        names=("recall", "precision"),
        no_skill=line(frame, ((0, level), (1, level)), "no-skill"),
        no_skill_at=(0.03, level + 0.02 if level < 0.9 else level - 0.06),
        curve=step_line(frame, [*start, *steps], "curve"),
        in_use=in_use,
        name=name,
    )


def size_of(frame: Frame) -> tuple[int, int]:
    """Width and height of a picture around a frame."""
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
        width=width,
        height=height,
        css_class="plot-small" if is_small else "plot",
        name=name,
    )
