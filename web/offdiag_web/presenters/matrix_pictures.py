"""A confusion matrix as a picture: drawn with all its numbers, or as a map of many classes."""

from __future__ import annotations

import re
from typing import cast

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import swap_axes
from offdiag_web.charts.maps import map_png
from offdiag_web.charts.matrix_drawing import DrawnCell, DrawnMatrix, matrix_svg
from offdiag_web.charts.palette import Ramp, Theme
from offdiag_web.presenters.class_groups import Grouping
from offdiag_web.presenters.class_order import class_order
from offdiag_web.presenters.matrix import Cell, MatrixView, matrix_view
from offdiag_web.presenters.matrix_colours import colour_scale
from offdiag_web.urls.matrix import MatrixAddress

LARGEST_DRAWING = 200
"""Classes up to which a matrix is written out cell by cell in a document."""
_MAP_SIDE = 720
"""Pixels that the side of a map has about, however many classes there are."""
_STEP = re.compile(r"\b(correct|error)-(\d+)\b")


def matrix_drawing(
    matrix: ConfusionMatrix,
    address: MatrixAddress,
    *,
    theme: Theme,
    grouping: Grouping | None = None,
) -> str:
    """The whole matrix of at most `LARGEST_DRAWING` classes as an SVG document."""
    return matrix_svg(_drawn(matrix_view(matrix, address, grouping=grouping)), theme=theme)


def matrix_map(
    matrix: ConfusionMatrix,
    address: MatrixAddress,
    *,
    theme: Theme,
    grouping: Grouping | None = None,
) -> bytes:
    """The whole matrix as a PNG of plain squares, in the order and orientation of the view."""
    order = class_order(matrix, address.order, grouping)
    codes = colour_scale(matrix, address.norm).codes(matrix, at_least=address.rarest)
    codes = codes[order, :][:, order]
    if address.transposed:
        codes = swap_axes(codes)
    return map_png(codes, theme=theme, pixels=map_pixels(matrix.n_classes))


def map_pixels(n_classes: int) -> int:
    """Side of a cell of the map in pixels."""
    return max(1, _MAP_SIDE // n_classes)


def _drawn(view: MatrixView) -> DrawnMatrix:
    return DrawnMatrix(
        down=view.down,
        across=view.across,
        down_names=[line.head.short for line in view.lines],
        across_names=[head.short for head in view.heads],
        cells=[[_drawn_cell(cell) for cell in line.cells] for line in view.lines],
        down_totals=[line.total for line in view.lines],
        across_totals=view.totals,
        down_total_name=view.total_head,
        across_total_name=view.total_line_head,
        caption=view.caption,
    )


def _drawn_cell(cell: Cell) -> DrawnCell:
    step = _STEP.search(cell.css)
    if step is None:
        return DrawnCell(cell.count, cell.share)
    return DrawnCell(cell.count, cell.share, cast(Ramp, step.group(1)), int(step.group(2)))
