"""Names beside the points of a chart, none across another; those without room are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

CHARACTER_WIDTH = 6.6
"""CSS pixels for a character of the texts in charts: rather too wide than too narrow."""
_ASCENT, _DESCENT = 9, 3
_CLEARANCE = 7
"""Free pixels between a point and its name."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in the picture, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def contains(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


@dataclass(frozen=True, slots=True)
class Caption:
    """A name at the base line of its text."""

    text: str
    x: float
    y: float
    anchor: Anchor

    @property
    def box(self) -> Box:
        width = len(self.text) * CHARACTER_WIDTH
        left = {"start": self.x, "middle": self.x - width / 2, "end": self.x - width}[self.anchor]
        return Box(left, self.y - _ASCENT, left + width, self.y + _DESCENT)


def placed(
    names: Iterable[tuple[str, float, float]], *, within: Box, taken: Sequence[Box]
) -> list[Caption]:
    """Captions for points, each a name with its x and y; the first ones get the best places.

    A caption stands right of its point, left of it, above or below, inside `within` and clear
    of what is `taken`.
    """
    occupied = list(taken)
    found = []
    for name, x, y in names:
        for caption in _candidates(name, x, y):
            box = caption.box
            if within.contains(box) and not any(box.overlaps(other) for other in occupied):
                occupied.append(box)
                found.append(caption)
                break
    return found


def _candidates(name: str, x: float, y: float) -> Iterable[Caption]:
    yield Caption(name, x + _CLEARANCE, y + 4, "start")
    yield Caption(name, x - _CLEARANCE, y + 4, "end")
    yield Caption(name, x, y - _CLEARANCE - _DESCENT, "middle")
    yield Caption(name, x, y + _CLEARANCE + _ASCENT, "middle")
