"""How the scores of two kinds of cases are spread: one histogram above the other.

Each is a share of its own kind on a scale of its own, whose top is printed: where one kind is
rare or lies close together, the other would not be seen on a common scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from offdiag_web.charts.plot import Frame, Tick, box, name_across, ticks_across
from offdiag_web.charts.svg import coordinate, drawing, words

UPPER = Frame(left=34, top=26, width=300, height=110)
LOWER = Frame(left=34, top=166, width=300, height=110)
Tone = Literal["plain", "correct", "error"]

_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
WIDTH, HEIGHT = UPPER.right + 10, LOWER.bottom + 38


@dataclass(frozen=True, slots=True)
class Spread:
    """One kind of cases: its name with its number, and its shares by bin, which add up to 1.

    All shares are 0 where there are no cases of this kind.
    """

    name: str
    shares: tuple[float, ...]


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

    `ticks` are texts with their places in 0..1, `threshold` is the place of the one in use, if
    there is one, with what to say beside it.
    `tones` say whether a kind of cases is good or bad, and "plain" where it is neither.
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
    """The lowest top of the scale that can be printed as it is and holds the largest share."""
    return next((share for share in _TOPS if share >= largest), 1.0)


def _histogram(frame: Frame, spread: Spread, tone: Tone) -> list[str]:
    top = _tidy_share(max(*spread.shares, 0.0))
    bars = []
    size = frame.width / len(spread.shares)
    for place, share in enumerate(spread.shares):
        if share <= 0:
            continue
        height = max(share / top * frame.height, 1.0)
        bars.append(
            f'<rect class="bar bar-{tone}" x="{coordinate(frame.left + place * size + 0.5)}" '
            f'y="{coordinate(frame.bottom - height)}" width="{coordinate(size - 1)}" '
            f'height="{coordinate(height)}"/>'
        )
    title = words(spread.name, x=frame.left, y=frame.top - 7, css_class="axis-name")
    end = words(f"{top:.0%}", x=frame.left - 5, y=frame.top + 9, css_class="tick", anchor="end")
    return [box(frame), title, end, *bars]


def _threshold(in_use: tuple[float, str] | None) -> list[str]:
    if in_use is None:
        return []
    at, text = in_use
    x = UPPER.x(min(max(at, 0.0), 1.0))
    is_left = at <= 0.6
    label = words(
        text,
        x=x + 4 if is_left else x - 4,
        y=UPPER.top + 13,
        css_class="direct",
        anchor="start" if is_left else "end",
    )
    path = (
        f"M{coordinate(x)} {UPPER.top}V{UPPER.bottom}M{coordinate(x)} {LOWER.top}V{LOWER.bottom}"
    )
    return [f'<path class="threshold" d="{path}"/>', label]
