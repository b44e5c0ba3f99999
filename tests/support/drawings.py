"""Reading an SVG drawing back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COMMAND = re.compile(r"([MLHVZ])([^MLHVZ]*)")


@dataclass(frozen=True)
class Drawing:
    """A parsed drawing with the coordinates of everything in it."""

    root: ET.Element

    @property
    def name(self) -> str | None:
        return self.root.get("aria-label")

    @property
    def view_box(self) -> tuple[float, ...]:
        return tuple(float(part) for part in self.root.get("viewBox", "").split())

    def _found(self, kind: str) -> list[ET.Element]:
        return [part for part in self.root if part.tag == kind or part.get("class") == kind]

    def count(self, kind: str) -> int:
        """How many elements have this tag or class."""
        return len(self._found(kind))

    def one(self, kind: str) -> ET.Element:
        (found,) = self._found(kind)
        return found

    def texts(self, kind: str) -> list[str]:
        """All texts of a class."""
        return [part.text or "" for part in self._found(kind) if part.tag == "text"]

    def ends_of(self, kind: str) -> tuple[float, float]:
        """Smallest and largest x of the only element of a kind."""
        xs = [x for x, _ in points_of(self.one(kind))]
        return min(xs), max(xs)

    def leftmost(self, kind: str) -> float:
        return self.ends_of(kind)[0]

    def rightmost(self, kind: str) -> float:
        return self.ends_of(kind)[1]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Every point that is drawn, the outline of circles and rectangles included."""
        parts = (part for part in self.root.iter() if part is not self.root)
        return [point for part in parts for point in points_of(part)]


def parsed(svg: str) -> Drawing:
    """A drawing from its text, which has to be well-formed XML."""
    return Drawing(ET.fromstring(svg))


def points_of(part: ET.Element) -> list[tuple[float, float]]:
    """The points of one element."""
    if part.tag == "circle":
        x, y, r = (float(part.get(key, "nan")) for key in ("cx", "cy", "r"))
        return [(x - r, y - r), (x + r, y + r)]
    if part.tag == "rect":
        x, y = float(part.get("x", "0")), float(part.get("y", "0"))
        width, height = float(part.get("width", "nan")), float(part.get("height", "nan"))
        return [(x, y), (x + width, y + height)]
    if part.tag == "text":
        return [(float(part.get("x", "nan")), float(part.get("y", "nan")))]
    return _path_points(part.get("d", ""))


def _path_points(path: str) -> list[tuple[float, float]]:
    x = y = 0.0
    points = []
    for command, rest in _COMMAND.findall(path):
        numbers = [float(number) for number in _NUMBER.findall(rest)]
        match command:
            case "M" | "L":
                x, y = numbers
            case "H":
                (x,) = numbers
            case "V":
                (y,) = numbers
        points.append((x, y))
    return points
