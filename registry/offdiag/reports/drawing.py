"""Drawings of a report as lines, dots and texts at coordinates; the template writes the SVG.

Colours are in the template and literal: a printed file has no stylesheet to ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from offdiag.reports import wording

LineKind = Literal["grid", "interval", "baseline", "trend"]
Anchor = Literal["start", "middle", "end"]

WIDTH = 680
TOP = 10
BELOW = 44
"""Room for the numbers and the title of an axis."""
_LONGEST_NAME = 26


@dataclass(frozen=True, slots=True)
class Line:
    x1: str
    y1: str
    x2: str
    y2: str
    kind: LineKind


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Label:
    """Text at a place; `is_title` names an axis."""

    x: str
    y: str
    text: str
    anchor: Anchor
    is_title: bool = False
    is_upright: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of fixed size; `name` says in words what it shows."""

    width: int
    height: int
    name: str
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    labels: tuple[Label, ...]


def at(value: float) -> str:
    """A coordinate with at most one decimal. Raises `ValueError` for NaN and infinity."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no coordinate")
    return f"{value:.1f}".removesuffix(".0")


def short(name: str) -> str:
    """A name cut in the middle: both ends tell names apart."""
    visible = wording.visible(name)
    if len(visible) <= _LONGEST_NAME:
        return visible
    half = _LONGEST_NAME // 2
    return f"{visible[: half - 1]}\N{HORIZONTAL ELLIPSIS}{visible[-half:]}"
