"""A confusion matrix as a picture: SVG with numbers or colours, or a PNG of coloured cells."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from offdiag.palette import BINS, RAMPS, Ramp, Theme, text_on
from offdiag_web.charts.svg import coordinate, drawing

_CELL_WIDTH, _CELL_HEIGHT, _GAP = 52, 38, 2
_LETTER, _MARGIN, _AXIS = 7.4, 12, 22
_INK: dict[Theme, str] = {"light": "#16202c", "dark": "#e7ecf2"}
_QUIET: dict[Theme, str] = {"light": "#4c5967", "dark": "#b3bfcc"}
_PAGE: dict[Theme, str] = {"light": "#ffffff", "dark": "#12161c"}
_EMPTY: dict[Theme, str] = {"light": "#f4f6f8", "dark": "#191f27"}
FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
_STEP = re.compile(r"\b(correct|error)-(\d+)\b")


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A count, its share, and the step of its ramp; an empty cell has no ramp."""

    count: str
    share: str | None
    ramp: Ramp | None = None
    step: int = 0

    @classmethod
    def coloured(cls, count: str, share: str | None, css: str) -> DrawnCell:
        """A cell with the colour that these CSS classes give it on a page."""
        found = _STEP.search(css)
        if found is None:
            return cls(count, share)
        return cls(count, share, cast(Ramp, found[1]), int(found[2]))


@dataclass(frozen=True, slots=True)
class DrawnMatrix:
    """What is drawn: both axes with their classes, the cells, and the totals of both axes."""

    down: str
    across: str
    down_names: Sequence[str]
    across_names: Sequence[str]
    cells: Sequence[Sequence[DrawnCell]]
    down_totals: Sequence[str]
    across_totals: Sequence[str]
    down_total_name: str
    across_total_name: str
    caption: str


@dataclass(frozen=True, slots=True)
class _Frame:
    """The position of the cells, in pixels, and the theme they are drawn in."""

    left: float
    top: float
    right: float
    bottom: float
    theme: Theme

    def x(self, column: int) -> float:
        return self.left + column * (_CELL_WIDTH + _GAP)

    def y(self, row: int) -> float:
        return self.top + row * (_CELL_HEIGHT + _GAP)


@dataclass(frozen=True, slots=True)
class Picture:
    """SVG elements, and their width and height in pixels."""

    content: str
    width: float
    height: float


def matrix_svg(matrix: DrawnMatrix, *, theme: Theme) -> str:
    """A standalone SVG document; all names in it are escaped."""
    drawn = drawn_matrix(matrix, theme=theme)
    width, height = coordinate(drawn.width), coordinate(drawn.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'font-family="{FONT}" font-size="13">'
        f'<title>{escape(matrix.caption)}</title><rect width="100%" height="100%" '
        f'fill="{_PAGE[theme]}"/>{drawn.content}</svg>\n'
    )


def drawn_matrix(matrix: DrawnMatrix, *, theme: Theme) -> Picture:
    """The matrix as a part of another picture."""
    beside = [*matrix.down_names, matrix.across_total_name, f"{matrix.down} ↓ "]
    left = _MARGIN + _text_width(beside) + 8
    # Heads are turned if the longest would run into its neighbour.
    longest = _text_width(matrix.across_names)
    turned = longest > _CELL_WIDTH - 4
    top = _MARGIN + _AXIS + (longest if turned else _AXIS)
    right = left + len(matrix.across_names) * (_CELL_WIDTH + _GAP)
    bottom = top + len(matrix.down_names) * (_CELL_HEIGHT + _GAP)
    frame = _Frame(left, top, right, bottom, theme)
    width = right + max(_text_width([matrix.down_total_name, *matrix.down_totals]), 40) + _MARGIN
    height = bottom + 2 * _AXIS + _MARGIN
    parts = [
        *_axis_names(matrix, frame),
        *_heads(matrix, frame, turned=turned),
        *_cells(matrix, frame),
        *_margins(matrix, frame),
    ]
    return Picture("".join(parts), width, height)


def _text_width(texts: Sequence[str]) -> float:
    return max((len(text) for text in texts), default=0) * _LETTER


def _text(
    x: float, y: float, text: str, colour: str, *, anchor: str = "middle", weight: int = 400
) -> str:
    return (
        f'<text x="{coordinate(x)}" y="{coordinate(y)}" fill="{colour}" '
        f'text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'
    )


def _axis_names(matrix: DrawnMatrix, frame: _Frame) -> Iterator[str]:
    ink = _INK[frame.theme]
    middle = (frame.left + frame.right) / 2
    yield _text(middle, _MARGIN + 12, f"{matrix.across} →", ink, weight=600)
    yield _text(frame.left - 8, frame.top - 8, f"{matrix.down} ↓", ink, anchor="end", weight=600)


def _heads(matrix: DrawnMatrix, frame: _Frame, *, turned: bool) -> Iterator[str]:
    quiet = _QUIET[frame.theme]
    for index, name in enumerate(matrix.across_names):
        x = frame.x(index) + _CELL_WIDTH / 2
        if turned:
            place = f"translate({coordinate(x + 4)} {coordinate(frame.top - 6)}) rotate(-90)"
            yield f'<text transform="{place}" fill="{quiet}">{escape(name)}</text>'
        else:
            yield _text(x, frame.top - 8, name, quiet)
    for index, name in enumerate(matrix.down_names):
        y = frame.y(index) + _CELL_HEIGHT / 2 + 4
        yield _text(frame.left - 8, y, name, quiet, anchor="end")


def _cells(matrix: DrawnMatrix, frame: _Frame) -> Iterator[str]:
    for row, line in enumerate(matrix.cells):
        for column, cell in enumerate(line):
            yield from _cell(cell, frame.x(column), frame.y(row), frame.theme)


def _cell(cell: DrawnCell, x: float, y: float, theme: Theme) -> Iterator[str]:
    fill = _EMPTY[theme] if cell.ramp is None else RAMPS[theme][cell.ramp][cell.step]
    ink = _QUIET[theme] if cell.ramp is None else text_on(fill)
    middle = x + _CELL_WIDTH / 2
    yield (
        f'<rect x="{coordinate(x)}" y="{coordinate(y)}" width="{_CELL_WIDTH}" '
        f'height="{_CELL_HEIGHT}" rx="3" fill="{fill}"/>'
    )
    if cell.share is None:
        yield _text(middle, y + _CELL_HEIGHT / 2 + 4, cell.count, ink)
    else:
        yield _text(middle, y + 17, cell.count, ink)
        yield _text(middle, y + 32, cell.share, ink)


def _margins(matrix: DrawnMatrix, frame: _Frame) -> Iterator[str]:
    quiet = _QUIET[frame.theme]
    yield _text(frame.right + 8, frame.top - 8, matrix.down_total_name, quiet, anchor="start")
    for index, total in enumerate(matrix.down_totals):
        y = frame.y(index) + _CELL_HEIGHT / 2 + 4
        yield _text(frame.right + 8, y, total, quiet, anchor="start")
    yield _text(frame.left - 8, frame.bottom + 18, matrix.across_total_name, quiet, anchor="end")
    for index, total in enumerate(matrix.across_totals):
        yield _text(frame.x(index) + _CELL_WIDTH / 2, frame.bottom + 18, total, quiet)


SIDE = 196


def matrix_picture(cells: Sequence[Sequence[str]], *, name: str) -> Markup:
    """Draw the cells row by row; each is the name of a step of a ramp, or "" for an empty cell.

    All cells of one colour are one path of horizontal strokes, which keeps the picture small
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
    """Step, first and last index of adjacent cells that look alike, without empty ones."""
    found: list[tuple[str, int, int]] = []
    for column, step in enumerate(line):
        if not step:
            continue
        if found and found[-1][0] == step and found[-1][2] == column:
            found[-1] = (step, found[-1][1], column + 1)
        else:
            found.append((step, column, column + 1))
    return found


EMPTY = 0
"""Code of a cell without samples; then come the steps of correct cells, and those of errors."""
PALETTE_VERSION = 1
"""Part of the ETag of images; it has to be raised when the colours change."""


def step_codes(
    correct: NDArray[np.bool_], steps: NDArray[np.int64], filled: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Codes of cells from whether they are correct, their step, and whether they have samples.

    All arrays have shape (K, K); steps are from 0 to `BINS` - 1.
    """
    codes = np.where(correct, 1 + steps, 1 + BINS + steps)
    return np.where(filled, codes, EMPTY).astype(np.uint8)


def map_png(codes: NDArray[np.uint8], *, theme: Theme, pixels: int = 1) -> bytes:
    """A palette PNG of codes (K, K), the first axis downwards, `pixels` per side of each cell."""
    from PIL import Image

    size = tuple(pixels * side for side in reversed(codes.shape))
    picture = Image.frombytes("P", codes.shape[::-1], np.ascontiguousarray(codes).tobytes())
    picture.putpalette(_palette(theme))
    if pixels > 1:
        picture = picture.resize(size, Image.Resampling.NEAREST)
    written = io.BytesIO()
    # The best compression takes ten times as long and saves a sixth.
    picture.save(written, format="PNG")
    return written.getvalue()


def _palette(theme: Theme) -> bytes:
    colours = (_EMPTY[theme], *RAMPS[theme]["correct"], *RAMPS[theme]["error"])
    return b"".join(bytes.fromhex(colour[1:]) for colour in colours)
