"""A confusion matrix as a small picture: one colour for each cell, no numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from offdiag_web.charts.svg import coordinate, drawing

SIDE = 196


def matrix_picture(cells: Sequence[Sequence[str]], *, name: str) -> Markup:
    """Draw the cells row by row; each is the name of a step of a ramp, or "" for nothing.

    All cells of one colour are one path of horizontal strokes, so that the picture stays small
    however many classes there are.
    """
    size = len(cells)
    unit = SIDE / size
    strokes: dict[str, list[str]] = {}
    for row, line in enumerate(cells):
        for step, start, stop in _runs_of(line):
            y = coordinate((row + 0.5) * unit)
            strokes.setdefault(step, []).append(
                f"M{coordinate(start * unit)} {y}H{coordinate(stop * unit)}"
            )
    return drawing(
        f'<rect class="ground" width="{SIDE}" height="{SIDE}"/>',
        *_paths(strokes, unit),
        width=SIDE,
        height=SIDE,
        css_class="matrix-picture",
        name=name,
    )


def _paths(strokes: Mapping[str, Sequence[str]], unit: float) -> list[str]:
    return [
        f'<path stroke="var(--{step})" stroke-width="{coordinate(unit)}" d="{"".join(parts)}"/>'
        for step, parts in sorted(strokes.items())
    ]


def _runs_of(line: Sequence[str]) -> list[tuple[str, int, int]]:
    """Step, first and end of neighbouring cells that look alike, without empty ones."""
    found: list[tuple[str, int, int]] = []
    for column, step in enumerate(line):
        if not step:
            continue
        if found and found[-1][0] == step and found[-1][2] == column:
            found[-1] = (step, found[-1][1], column + 1)
        else:
            found.append((step, column, column + 1))
    return found
