"""Files of the results of a run: its matrix as Markdown, LaTeX, SVG and PNG, and its card."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import cast

from flask import Blueprint, Response, abort, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from offdiag.domain.runs import Task
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.palette import Theme
from offdiag.services.evaluation.history import ALL_KEYS
from offdiag.store.run_page import RunDetail
from offdiag_web.app.exports import attachment
from offdiag_web.app.parameters import understood
from offdiag_web.charts.card import Card, CardTable, card_svg, map_picture
from offdiag_web.charts.matrix_picture import PALETTE_VERSION, Picture
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_order
from offdiag_web.components.controls import class_words
from offdiag_web.components.datasets import METRIC_TITLES, TITLES_OF_SETS
from offdiag_web.components.matrix import MatrixView, matrix_view
from offdiag_web.components.metric_values import UNDEFINED, interval_text
from offdiag_web.components.runs.frame import RUN, results_of, run_scope, stored_run
from offdiag_web.components.runs.statement import run_statement
from offdiag_web.components.slices import PARAMETER
from offdiag_web.pages.run_matrix import sets_page
from offdiag_web.pages.run_matrix.displayed import (
    DisplayedRun,
    displayed_run,
    drawn_matrix,
    matrix_file_name,
    requested_matrix,
)
from offdiag_web.pages.run_matrix.drawings import (
    LARGEST_DRAWING,
    latex_table,
    map_pixels,
    map_side,
    markdown_table,
    matrix_drawing,
    matrix_map,
    matrix_part,
)
from offdiag_web.urls.run import MatrixAddress, read_matrix

blueprint = Blueprint("matrix_files", __name__)


@blueprint.get(f"{RUN}/matrix.md")
def markdown(run_id: str) -> Response:
    detail = stored_run(run_id, request.args.get(PARAMETER) or None)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.matrix_markdown(detail)
    seen = _asked(run_id)
    return _file(markdown_table(_view(seen)), "text/markdown", seen.address, "md")


@blueprint.get(f"{RUN}/matrix.tex")
def latex(run_id: str) -> Response:
    seen = _asked(run_id)
    source = f"offdiag run {run_id}, matrix {seen.results.matrix.digest[:12]}"
    if seen.collapse is not None:
        source += f", {seen.collapse.words}"
    if seen.address.part is not None:
        source += f", {seen.address.part}"
    text = latex_table(_view(seen), source=source)
    return _file(text, "application/x-tex", seen.address, "tex")


@blueprint.get(f"{RUN}/matrix.svg")
def drawing(run_id: str) -> Response:
    seen = _asked(run_id)
    drawn = matrix_drawing(
        seen.results.matrix, seen.address, theme=_theme(), grouping=seen.grouping
    )
    return _file(drawn, "image/svg+xml", seen.address, "svg")


@blueprint.get(f"{RUN}/matrix.png")
def picture(run_id: str) -> Response:
    """Shown inside the page, so it is not a download; an unchanged picture is not sent again."""
    seen = drawn_matrix(read_matrix(run_id, request.args)[0])
    matrix, address, grouping = seen.results.matrix, seen.address, seen.grouping
    theme = _theme()
    answer = Response(mimetype="image/png")
    grouped = (
        "" if grouping is None else hashlib.sha256(repr(grouping.order).encode()).hexdigest()[:12]
    )
    shown = (address.order, address.norm, address.transposed, address.rarest, grouped)
    # Stored matrices already have a digest; only collapsed counts have to be read for one.
    content = seen.results.facts.matrix_digest if seen.collapse is None else matrix.digest
    digest = "-".join(map(str, (content, *shown, theme, PALETTE_VERSION)))
    answer.set_etag(digest)
    answer.cache_control.no_cache = True
    if digest not in request.if_none_match:
        answer.set_data(matrix_map(matrix, address, theme=theme, grouping=grouping))
    return cast(Response, answer.make_conditional(request))


@blueprint.get(f"{RUN}/matrix/at")
def class_at(run_id: str) -> AnyResponse:
    """Redirect to the page with the cell that was clicked on the map."""
    seen = requested_matrix(read_matrix(run_id, request.args)[0])
    matrix, address = seen.results.matrix, seen.address
    down, across = (_place(f"at.{axis}", matrix.n_classes) for axis in ("y", "x"))
    order = class_order(matrix, address.order, seen.grouping)
    actual, predicted = address.laid_out(down, across)
    names = matrix.labels.names
    taken_for = None if actual == predicted else names[order[predicted]]
    chosen = replace(address, focus=names[order[actual]], taken_for=taken_for)
    return redirect(f"{chosen.url()}#zoom-title", 303)


def _place(name: str, n_classes: int) -> int:
    """The class at a coordinate of the map, in pixels of the map."""
    text = request.args.get(name, "")
    if not (text.isascii() and text.isdigit()):
        abort(400)
    return min(int(text[:9]) * n_classes // map_side(n_classes), n_classes - 1)


def _asked(run_id: str) -> DisplayedRun:
    seen = requested_matrix(understood(read_matrix(run_id, request.args)))
    n_classes = seen.results.matrix.n_classes
    if n_classes > LARGEST_DRAWING:
        raise InvalidInput(
            f"{n_classes:,} classes are too many for this format.",
            field="run",
            hint=f"It takes at most {LARGEST_DRAWING}; CSV and PNG take any number.",
        )
    return seen


def _view(seen: DisplayedRun) -> MatrixView:
    return matrix_view(seen.results.matrix, seen.address, grouping=seen.grouping)


def _theme() -> Theme:
    return "dark" if request.args.get("theme") == "dark" else "light"


def _file(text: str, mimetype: str, address: MatrixAddress, ending: str) -> Response:
    return attachment(text, mimetype, f"{matrix_file_name(address)}.{ending}")


_MOST_WITH_NUMBERS = 14
"""Most classes for which a card has room for the numbers of the matrix."""


@blueprint.get(f"{RUN}/card.svg")
def card(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    detail = stored_run(run_id, address.part)
    seen = displayed_run(detail.run, results_of(detail), address)
    return Response(card_svg(_card(detail, seen)), mimetype="image/svg+xml")


def _card(detail: RunDetail, seen: DisplayedRun) -> Card:
    run, results, words = detail.run, seen.results, class_words(detail.run.task)
    part = seen.address.part
    statement = None if part else run_statement(detail)
    titles = METRIC_TITLES | TITLES_OF_SETS
    facts = [
        run_scope(detail),
        numbers.plural(results.facts.n_cases, "example"),
        numbers.plural(len(results.counted.labels), words.one, words.many),
        *([part] if part else []),
        *([] if seen.collapse is None else [seen.collapse.words]),
    ]
    return Card(
        title=run.name,
        subtitle=" · ".join(facts),
        statement="" if statement is None else f"{statement.strong} {statement.rest}",
        table=CardTable(
            ("Metric", "Value", "95 % CI"),
            [
                _row(titles[key], results.aggregate[key])
                for key in ALL_KEYS
                if key in results.aggregate
            ],
        ),
        picture=_picture(seen),
        picture_title="Confusion matrix",
        foot=f"{run.id} · logged {run.created_at:%Y-%m-%d} · offdiag",
    )


def _row(title: str, value: MetricValue) -> tuple[str, ...]:
    text = UNDEFINED if value.value is None else numbers.metric(value.value)
    return title, text, interval_text(value) or ""


def _picture(seen: DisplayedRun) -> Picture | None:
    matrix, address = seen.results.counted, seen.address
    if not isinstance(matrix, ConfusionMatrix):
        return None
    if matrix.n_classes <= _MOST_WITH_NUMBERS:
        return matrix_part(matrix, address, grouping=seen.grouping)
    png = matrix_map(matrix, address, theme="light", grouping=seen.grouping)
    down, across = address.laid_out("Actual", "Predicted")
    side = matrix.n_classes * map_pixels(matrix.n_classes)
    return map_picture(base64.b64encode(png).decode(), side, down=down, across=across)
