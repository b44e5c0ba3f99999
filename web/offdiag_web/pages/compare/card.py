"""A comparison as a card for slides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from offdiag.comparison import texts
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.ranking import leading
from offdiag.palette import Ramp
from offdiag.services.compare import RunComparison
from offdiag_web.charts.card import Card, CardTable, card_svg
from offdiag_web.charts.matrix_picture import DrawnCell, DrawnMatrix, Picture, drawn_matrix
from offdiag_web.components import numbers
from offdiag_web.pages.compare.matrix import DifferenceCell, difference_matrix
from offdiag_web.pages.compare.pair import PairView
from offdiag_web.pages.compare.runs import RunIdentity
from offdiag_web.pages.compare.view import ComparePage

_MOST_METRICS = 4
_MOST_RUNS = 9
_LONGEST_NAME = 32
_LARGEST_MATRIX = 12
_STEP = re.compile(r"\b(correct|error)-(\d+)\b")


def comparison_card(found: RunComparison, page: ComparePage) -> str:
    """The card of a comparison as an SVG document; one that was refused says why."""
    result = found.result
    picture = None
    if isinstance(result, PairComparison) and result.cells is not None:
        picture = _difference(result)
    return card_svg(
        Card(
            title=_title(page),
            subtitle=" · ".join(filter(None, (page.scope, page.samples))),
            statement=_statement(page),
            table=_table(result, page),
            picture=picture,
            picture_title="B − A, points of the actual class; blue is better",
            foot=f"{', '.join(each.id for each in page.runs)} · offdiag",
        )
    )


def _title(page: ComparePage) -> str:
    if len(page.runs) > 2:
        return f"{len(page.runs)} runs compared"
    return " · ".join(f"{each.run_label} {_name(each)}" for each in page.runs)


def _statement(page: ComparePage) -> str:
    if page.refusal is not None:
        return page.refusal.why
    return "" if page.verdict is None else page.verdict.headline


def _name(run: RunIdentity) -> str:
    return numbers.shortened(run.name, longest=_LONGEST_NAME)


def _table(result: object, page: ComparePage) -> CardTable:
    if page.pair is not None:
        is_wider = any(line.together for line in page.pair.metrics.lines)
        head = "95 % CI, together" if is_wider else "95 % CI"
        return CardTable(("Metric", "A", "B", "B − A", head), list(_metrics(page.pair)), 3)
    if isinstance(result, ManyComparison):
        heads = ("Run", texts.title(leading(result)[0]), "To the highest, 95 % CI")
        return CardTable(heads, list(_runs(result, page)))
    return CardTable(("Run",), [(_name(each),) for each in page.runs[:_MOST_RUNS]], 0)


def _metrics(pair: PairView) -> Iterator[tuple[str, ...]]:
    for line in pair.metrics.lines[:_MOST_METRICS]:
        interval = line.together or line.interval or ""
        yield line.title, line.first.text, line.second.text, line.gap, interval


def _runs(many: ManyComparison, page: ComparePage) -> Iterator[tuple[str, ...]]:
    """The best runs first, as on the page."""
    column = tuple(many.places).index(leading(many)[0])
    rows = () if page.many is None else page.many.rows[:_MOST_RUNS]
    for row in rows:
        cell = row.cells[column]
        yield f"{row.run.run_label} {_name(row.run)}", cell.value.text, cell.gap or ""


def _difference(pair: PairComparison) -> Picture:
    matrix = difference_matrix(pair, largest=_LARGEST_MATRIX)
    names = [head.short for head in matrix.heads]
    return drawn_matrix(
        DrawnMatrix(
            down="Actual",
            across="Predicted",
            down_names=names,
            across_names=names,
            cells=[[_cell(cell) for cell in row.cells] for row in matrix.rows],
            down_totals=[row.total for row in matrix.rows],
            across_totals=[],
            down_total_name="n",
            across_total_name="",
            caption=matrix.caption,
        ),
        theme="light",
    )


def _cell(cell: DifferenceCell) -> DrawnCell:
    step = _STEP.search(cell.css)
    if step is None:
        return DrawnCell(cell.share, None)
    return DrawnCell(cell.share, None, cast(Ramp, step.group(1)), int(step.group(2)))
