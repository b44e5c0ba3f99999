"""The confusion matrix as a table: two numbers per cell, both axes named, margins in words.

Transposing only affects this view: cells are always looked up by (actual, predicted), and only the
order in which they are laid out differs. Groups of classes are headers that collapse or expand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from offdiag.domain.hierarchy import ALL_GROUPS, Group
from offdiag.domain.sentences import capitalized
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import actual_totals, predicted_totals
from offdiag_web.components import numbers
from offdiag_web.components.classes import (
    ClassHead,
    Grouping,
    bands,
    class_head,
    class_order,
)
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix_colours import OF_WHAT, ColourScale, colour_scale
from offdiag_web.urls.run import MatrixAddress, Norm

LARGEST_LIST = 60
"""Most groups listed next to a matrix whose heads do not show them."""


@dataclass(frozen=True, slots=True)
class GroupHead:
    """A group, and the address of the same view in which it is collapsed or expanded instead."""

    head: ClassHead
    url: str
    is_collapsed: bool
    size: str


@dataclass(frozen=True, slots=True)
class BandHead:
    """A group over `length` adjacent classes, or a gap of that length."""

    group: GroupHead | None
    length: int


def group_head(grouping: Grouping, group: Group, address: MatrixAddress) -> GroupHead:
    """A link that toggles a group, without the focus class, which may be gone afterwards."""
    other = replace(address, collapse=grouping.toggled(group), focus=None)
    return GroupHead(
        class_head(group.name),
        other.url(),
        group in grouping.collapse.groups,
        numbers.plural(len(group.classes), "class", "classes"),
    )


def band_heads(
    grouping: Grouping, codes: Sequence[int], address: MatrixAddress
) -> tuple[tuple[BandHead, ...], ...]:
    """The groups around classes in order, one line for each level, outermost first."""
    return tuple(
        tuple(
            BandHead(None if group is None else group_head(grouping, group, address), length)
            for group, length in level
        )
        for level in bands(grouping, codes)
    )


def bands_by_line(levels: Sequence[Sequence[BandHead]]) -> list[tuple[BandHead, ...]]:
    """For each class in order, the bands that begin with it, outermost first."""
    n_lines = sum(band.length for band in levels[0]) if levels else 0
    begins: list[list[BandHead]] = [[] for _ in range(n_lines)]
    for level in levels:
        at = 0
        for band in level:
            begins[at].append(band)
            at += band.length
    return [tuple(found) for found in begins]


def group_controls(
    grouping: Grouping, address: MatrixAddress, *, with_list: bool
) -> dict[str, object]:
    """The links above a matrix; `with_list` if the heads of the table do not show all groups."""
    everything = replace(address, collapse=(), focus=None)
    outermost = replace(address, collapse=(ALL_GROUPS,), focus=None)
    collapsed = grouping.collapse.groups
    listed = grouping.visible if with_list else ()
    if set(listed) == set(collapsed):
        listed = ()  # Each of them is the head of a row and a column.
    return {
        "segments": (
            Segment("all classes", everything.url(), not collapsed),
            Segment("all groups", outermost.url(), collapsed == grouping.hierarchy.groups),
        ),
        "groups": tuple(group_head(grouping, group, address) for group in listed[:LARGEST_LIST]),
        "words": grouping.collapse.words if collapsed else None,
    }


Density = Literal["roomy", "plain", "dense"]
CellUrl = Callable[[int, int], str]
"""Makes the address of the examples from the codes of the actual and the predicted class."""

_UPRIGHT_LENGTH: dict[Density, int] = {"roomy": 9, "plain": 6, "dense": 3}
"""Characters of a name that fit above a column; if one name does not fit, all heads are turned."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A count and its share; `css` holds the step of the ramp, `url` leads to the examples."""

    count: str
    share: str | None
    css: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """One displayed row: its class, its cells, the count outside a window, its total."""

    head: ClassHead
    cells: tuple[Cell, ...]
    elsewhere: str | None
    total: str
    bands: tuple[BandHead, ...] = ()
    """Groups that begin with this row, outermost first."""
    group: GroupHead | None = None
    """The collapsed group that the row stands for."""


@dataclass(frozen=True, slots=True)
class Legend:
    """What the colours mean; `error_end` is None if there is no error."""

    correct_end: str
    error_end: str | None
    of_what: str


@dataclass(frozen=True, slots=True)
class MatrixView:
    """A table of classes by classes, complete or a window."""

    down: str
    across: str
    caption: str
    heads: tuple[ClassHead, ...]
    turned_heads: bool
    lines: tuple[MatrixLine, ...]
    elsewhere_head: str | None
    elsewhere_line: tuple[str, ...]
    totals: tuple[str, ...]
    total: str
    total_head: str
    total_line_head: str
    legend: Legend
    density: Density
    bands: tuple[tuple[BandHead, ...], ...] = ()
    """Groups above the columns, a line for each level, if classes are ordered by group."""
    groups: tuple[GroupHead | None, ...] = ()
    """The collapsed group that each column stands for."""


def matrix_view(
    matrix: ConfusionMatrix,
    address: MatrixAddress,
    codes: Sequence[int] | None = None,
    *,
    shared: ColourScale | None = None,
    cell_url: CellUrl | None = None,
    grouping: Grouping | None = None,
    looked_at: tuple[int, int] | None = None,
) -> MatrixView:
    """The whole matrix, or the window of the classes in `codes`, in that order.

    `shared` is a colour scale shared with other matrices on the same page; `cell_url` makes the
    address of the examples of a cell; `grouping` says how the classes of the matrix are grouped;
    `looked_at` is a cell to highlight.
    """
    scale = shared or colour_scale(matrix, address.norm)
    shown = list(codes) if codes is not None else class_order(matrix, address.order, grouping)
    is_window = len(shown) < matrix.n_classes
    down, across = address.laid_out("Actual", "Predicted")
    down_totals, across_totals = address.laid_out(matrix.actual, matrix.predicted)
    heads = tuple(class_head(matrix.labels.names[code]) for code in shown)
    density = matrix_density(len(shown))
    levels = () if is_window else _levels(shown, address, grouping)
    begins = bands_by_line(levels) or [()] * len(shown)
    groups = _collapsed_groups(shown, address, grouping)
    lines = []
    for code, head, bands_of_line, group in zip(shown, heads, begins, groups, strict=True):
        places = [address.laid_out(code, other) for other in shown]
        inside = sum(int(matrix.counts[place]) for place in places)
        total = int(down_totals[code])
        lines.append(
            MatrixLine(
                head=head,
                cells=tuple(
                    _cell(matrix, scale, address.norm, place, cell_url, looked_at=looked_at)
                    for place in places
                ),
                elsewhere=numbers.count(total - inside) if is_window else None,
                total=numbers.count(total),
                bands=bands_of_line,
                group=group,
            )
        )
    return MatrixView(
        down=down,
        across=across,
        caption=_caption(matrix, address, n_shown=len(shown), grouping=grouping),
        heads=heads,
        turned_heads=turned_heads(heads, density),
        lines=tuple(lines),
        elsewhere_head=f"{matrix.n_classes - len(shown)} others" if is_window else None,
        elsewhere_line=_elsewhere_line(matrix, address, shown) if is_window else (),
        totals=tuple(numbers.count(int(across_totals[code])) for code in shown),
        total=numbers.count(matrix.total),
        total_head=f"{down} n",
        total_line_head=f"{across} n",
        legend=Legend(scale.correct_end, scale.error_end, OF_WHAT[address.norm]),
        density=density,
        bands=levels,
        groups=groups,
    )


def _levels(
    shown: Sequence[int], address: MatrixAddress, grouping: Grouping | None
) -> tuple[tuple[BandHead, ...], ...]:
    if grouping is None or address.order not in {None, "group"}:
        return ()
    return band_heads(grouping, shown, address)


def _collapsed_groups(
    shown: Sequence[int], address: MatrixAddress, grouping: Grouping | None
) -> tuple[GroupHead | None, ...]:
    if grouping is None:
        return (None,) * len(shown)
    found = [grouping.group_at(code) for code in shown]
    return tuple(
        None if group is None else group_head(grouping, group, address) for group in found
    )


def turned_heads(heads: Sequence[ClassHead], density: Density) -> bool:
    """Whether the names above the columns have to be turned to fit."""
    return max(len(head.short) for head in heads) > _UPRIGHT_LENGTH[density]


def matrix_density(n_columns: int) -> Density:
    """How densely the cells of a table with this many columns are set."""
    if n_columns <= 8:
        return "roomy"
    return "plain" if n_columns <= 12 else "dense"


def _cell(
    matrix: ConfusionMatrix,
    scale: ColourScale,
    norm: Norm,
    place: tuple[int, int],
    cell_url: CellUrl | None,
    *,
    looked_at: tuple[int, int] | None,
) -> Cell:
    actual, predicted = place
    count = int(matrix.counts[place])
    of = int(np.broadcast_to(scale.denominators, matrix.counts.shape)[place])
    is_correct = actual == predicted
    css = [scale.ramp_class(count / max(of, 1), is_correct=is_correct)]
    if is_correct:
        css.append("diagonal")
    if place == looked_at:
        css.append("is-looked-at")
    return Cell(
        count=numbers.count(count),
        share=numbers.whole_percent(count, of) if norm != "none" and count else None,
        css=" ".join(css),
        url=cell_url(actual, predicted) if cell_url is not None and count else None,
    )


def _elsewhere_line(
    matrix: ConfusionMatrix, address: MatrixAddress, shown: Sequence[int]
) -> tuple[str, ...]:
    """What the classes outside the window contribute to each displayed column."""
    window = matrix.counts[np.ix_(shown, shown)]
    if address.transposed:
        totals, inside = matrix.actual, actual_totals(window)
    else:
        totals, inside = matrix.predicted, predicted_totals(window)
    return tuple(
        numbers.count(int(totals[code]) - int(within))
        for code, within in zip(shown, inside, strict=True)
    )


def _caption(
    matrix: ConfusionMatrix, address: MatrixAddress, *, n_shown: int, grouping: Grouping | None
) -> str:
    down, across = address.laid_out("actual", "predicted")
    margins = {
        "actual": "examples of each actual class (support)",
        "predicted": "examples predicted as each class",
    }
    second = {
        "row": "Second number: share of the actual class.",
        "col": "Second number: share of the predicted class.",
        "all": "Second number: share of all examples.",
        "none": "Counts only.",
    }[address.norm]
    part = "" if n_shown == matrix.n_classes else f"{n_shown} of {matrix.n_classes} classes. "
    if grouping is not None and grouping.collapse.groups:
        part = f"{capitalized(grouping.collapse.words)}. {part}"
    return (
        f"{part}Rows: {down} class. Columns: {across} class. {second} "
        f"Right: {margins[down]}. Bottom: {margins[across]}."
    )
