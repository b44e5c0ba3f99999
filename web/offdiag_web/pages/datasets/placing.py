"""Names beside the points of a picture that do not lie on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from offdiag_web.charts.plot import Frame
from offdiag_web.charts.svg import words

Anchor = Literal["start", "end"]
_WIDTH_OF_LETTER, _HEIGHT_OF_NAME = 6.3, 13.0
_WIDEST_LETTER, _BETWEEN_NAMES = 9.2, 8.0
"""On a phone letters are larger for the size of the picture."""


@dataclass(frozen=True, slots=True)
class Name:
    """What is written beside a point, in CSS pixels."""

    text: str
    x: float
    y: float
    css_class: str = "direct"


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def placed_names(
    names: Sequence[Name],
    frame: Frame,
    *,
    points: Iterable[tuple[float, float]],
    lines: Iterable[tuple[float, float, float]] = (),
) -> list[str]:
    """Each name at the first free place around its point; left out where there is none.

    `lines` are texts that stand already: their left and right ends and their base line.
    """
    taken = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    taken += [_Box(left, y - _HEIGHT_OF_NAME + 3, right, y + 3) for left, right, y in lines]
    written = []
    for name in names:
        width, widest = _WIDTH_OF_LETTER * len(name.text), _WIDEST_LETTER * len(name.text)
        for x, y, anchor in _around(name):
            left, widest_left = (x - width, x - widest) if anchor == "end" else (x, x)
            box = _Box(left, y - _HEIGHT_OF_NAME + 3, left + width + _BETWEEN_NAMES, y + 3)
            is_inside = frame.left <= widest_left and widest_left + widest <= frame.right + 8
            is_inside = is_inside and frame.top <= box.top and box.bottom <= frame.bottom
            if is_inside and not any(box.meets(each) for each in taken):
                taken.append(box)
                written.append(words(name.text, x=x, y=y, css_class=name.css_class, anchor=anchor))
                break
    return written


def _around(name: Name) -> Iterable[tuple[float, float, Anchor]]:
    x, y = name.x, name.y
    for away in (0.0, 14.0, 28.0, 42.0):
        yield x + 9, y - 9 - away, "start"
        yield x - 9, y - 9 - away, "end"
        yield x + 9, y + 17 + away, "start"
        yield x - 9, y + 17 + away, "end"
