"""A matrix as a picture of its cells, and as Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import swap_axes
from offdiag.palette import Theme
from offdiag_web.charts.matrix_picture import (
    DrawnCell,
    DrawnMatrix,
    Picture,
    drawn_matrix,
    map_png,
    matrix_svg,
)
from offdiag_web.components.classes import Grouping, class_order
from offdiag_web.components.matrix import Cell, MatrixView, matrix_view
from offdiag_web.components.matrix_colours import colour_scale
from offdiag_web.urls.run import MatrixAddress

LARGEST_DRAWING = 200
"""Most classes for which a document contains every cell of a matrix."""
_MAP_SIDE = 520
"""Approximate side of a map in pixels, however many classes there are."""
_SMALLEST_SIDE = 400
"""Below this side, the width of squares of whole pixels, cells are too small to be seen."""


def matrix_drawing(
    matrix: ConfusionMatrix,
    address: MatrixAddress,
    *,
    theme: Theme,
    grouping: Grouping | None = None,
) -> str:
    """The whole matrix of at most `LARGEST_DRAWING` classes as an SVG document."""
    return matrix_svg(_drawn(matrix_view(matrix, address, grouping=grouping)), theme=theme)


def matrix_part(
    matrix: ConfusionMatrix, address: MatrixAddress, *, grouping: Grouping | None = None
) -> Picture:
    """The same as a part of a picture with a light background."""
    return drawn_matrix(_drawn(matrix_view(matrix, address, grouping=grouping)), theme="light")


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


def map_side(n_classes: int) -> int:
    """Side of the map on a page in CSS pixels; a picture that is too small is enlarged."""
    side = n_classes * map_pixels(n_classes)
    return side if side >= _SMALLEST_SIDE else _MAP_SIDE


def _drawn(view: MatrixView) -> DrawnMatrix:
    return DrawnMatrix(
        down=view.down,
        across=view.across,
        down_names=[line.head.short for line in view.lines],
        across_names=[head.short for head in view.heads],
        cells=[
            [DrawnCell.coloured(cell.count, cell.share, cell.css) for cell in line.cells]
            for line in view.lines
        ],
        down_totals=[line.total for line in view.lines],
        across_totals=view.totals,
        down_total_name=view.total_head,
        across_total_name=view.total_line_head,
        caption=view.caption,
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\n": " ",
    "\r": " ",
}
_MARKDOWN = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]<>()#+!|~$&="} | {"\n": " ", "\r": " "}
)


def markdown_table(view: MatrixView) -> str:
    """A table for GitHub; class names are shown literally, never as markup."""
    heads = [markdown_text(head.name) for head in view.heads]
    lines = [
        [f"{view.down} ↓ {view.across} →", *heads, view.total_head],
        ["---", *["---:"] * (len(heads) + 1)],
        *(
            [
                f"**{markdown_text(line.head.name)}**",
                *(_shown(cell) for cell in line.cells),
                line.total,
            ]
            for line in view.lines
        ),
        [view.total_line_head, *view.totals, view.total],
    ]
    return markdown_lines(lines, view.caption)


def markdown_lines(lines: list[list[str]], caption: str) -> str:
    """A table of cells that are already Markdown, and its caption."""
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{caption}\n"


def latex_table(view: MatrixView, *, source: str) -> str:
    """A `tabular` that only needs the package booktabs; `source` says where it is from."""
    columns = len(view.heads)
    return "\n".join(_latex_lines(view, columns, source)) + "\n"


def _latex_lines(view: MatrixView, columns: int, source: str) -> Iterator[str]:
    heads = " & ".join(_escaped(head.name) for head in view.heads)
    yield f"% {_comment(source)}"
    yield r"% needs \usepackage{booktabs}"
    yield rf"\begin{{tabular}}{{l{'r' * columns}r}}"
    yield r"\toprule"
    yield rf" & \multicolumn{{{columns}}}{{c}}{{{view.across} class}} & \\"
    yield rf"\cmidrule(lr){{2-{columns + 1}}}"
    yield rf"{view.down} class & {heads} & {_latex_total(view.total_head)} \\"
    yield r"\midrule"
    for line in view.lines:
        cells = " & ".join(_escaped(_shown(cell)) for cell in line.cells)
        yield rf"{_escaped(line.head.name)} & {cells} & {line.total} \\"
    yield r"\midrule"
    yield rf"{_latex_total(view.total_line_head)} & {' & '.join(view.totals)} & {view.total} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _shown(cell: Cell) -> str:
    return f"{cell.count} ({cell.share})" if cell.share else cell.count


def markdown_text(text: str) -> str:
    """Text with all markup escaped."""
    return text.translate(_MARKDOWN)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_total(text: str) -> str:
    return text.replace(" n", " $n$")


def _comment(text: str) -> str:
    """A comment on a single line, so that none of it is ever typeset."""
    return " ".join(text.split())
