"""Writing SVG as text.

The only place where drawings become markup: text is escaped here, coordinates are checked here.
Colours come from classes, never from a style attribute, which the content security policy
would refuse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup, escape


def coordinate(value: float) -> str:
    """A finite number with at most two decimals, as short as it gets.

    Raises `ValueError` for NaN and infinity: a browser drops the whole element in silence.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is no coordinate")
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def readable(element: str, text: str, *, x: float | None = None, y: float | None = None) -> str:
    """A mark of a chart with what it says when it is pointed at or stepped to.

    `x` and `y` are its values, for those who draw the chart again.
    """
    values = "" if x is None or y is None else f' data-x="{x!r}" data-y="{y!r}"'
    return f'{element.removesuffix("/>")} data-read="{escape(text)}"{values}/>'


def reading(
    text: str, x: float, y: float, *, values: tuple[float, float], series: str = ""
) -> str:
    """A place of a chart that says something where nothing is drawn, or what cannot say it.

    `x` and `y` are its place in the picture, `values` those on the axes, `series` the line that
    it is on where there are several.
    """
    of = f' data-series="{escape(series)}"' if series else ""
    spot = f'<circle class="spot" cx="{coordinate(x)}" cy="{coordinate(y)}" r="0"{of}/>'
    return readable(spot, text, x=values[0], y=values[1])


def drawing(
    *parts: str,
    width: int,
    height: int,
    css_class: str,
    name: str,
    shares: tuple[int, int, int, int] | None = None,
) -> Markup:
    """A picture of fixed size in CSS pixels, so that nothing moves while the page loads.

    `shares` are left, top, width and height of the area whose both axes go from 0 to 1, by which
    lines in it can be read.

    `parts` are elements made from numbers by this package; `name` is what the picture says,
    for those who do not see it, and may hold any text.
    """
    area = "" if shares is None else f' data-shares="{" ".join(map(str, shares))}"'
    return _svg(
        parts, width=width, height=height, css_class=css_class, name=name, role="img", area=area
    )


def group(*parts: str, width: int, height: int, css_class: str, name: str) -> Markup:
    """The same with links inside, which a picture as a whole would hide from screen readers."""
    return _svg(parts, width=width, height=height, css_class=css_class, name=name, role="group")


def _svg(
    parts: Sequence[str],
    *,
    width: int,
    height: int,
    css_class: str,
    name: str,
    role: str,
    area: str = "",
) -> Markup:
    return Markup(  # noqa: S704 - parts are built from checked coordinates, the name is escaped
        f'<svg class="{css_class}"{area} width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="{role}" aria-label="{escape(name)}">'
        f"{''.join(parts)}</svg>"
    )


def linked(content: str, *, url: str, css_class: str, name: str) -> str:
    """Elements made by this package that lead somewhere; `name` may hold any text."""
    return f'<a class="{css_class}" href="{escape(url)}" aria-label="{escape(name)}">{content}</a>'


def words(
    text: str,
    *,
    x: float,
    y: float,
    css_class: str,
    anchor: Literal["start", "middle", "end"] = "start",
) -> str:
    """Any text at a place of its base line."""
    return (
        f'<text class="{css_class}" x="{coordinate(x)}" y="{coordinate(y)}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
