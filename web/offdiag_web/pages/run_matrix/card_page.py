"""A run as a card for slides."""

from __future__ import annotations

import base64

from flask import Blueprint, Response, request

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.runs import ALL_KEYS
from offdiag.store.run_page import RunDetail
from offdiag_web.charts.card import Card, CardTable, card_svg, map_picture
from offdiag_web.charts.matrix_picture import Picture
from offdiag_web.components import numbers
from offdiag_web.components.controls import class_words
from offdiag_web.components.datasets import METRIC_TITLES, TITLES_OF_SETS
from offdiag_web.components.flags import run_statement
from offdiag_web.components.numbers import UNDEFINED, interval_text
from offdiag_web.components.run_frame import RUN, results_of, run_scope, stored_run
from offdiag_web.pages.run_matrix.displayed import DisplayedRun, displayed_run
from offdiag_web.pages.run_matrix.drawings import map_pixels, matrix_map, matrix_part
from offdiag_web.urls.run import read_matrix

blueprint = Blueprint("run_card", __name__)

_MOST_WITH_NUMBERS = 14
"""Classes up to which a card has room for the numbers of the matrix."""


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
    down, across = ("Predicted", "Actual") if address.transposed else ("Actual", "Predicted")
    side = matrix.n_classes * map_pixels(matrix.n_classes)
    return map_picture(base64.b64encode(png).decode(), side, down=down, across=across)
