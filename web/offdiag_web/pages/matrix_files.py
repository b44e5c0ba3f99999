"""The confusion matrix of a run as a file: Markdown, LaTeX, SVG and PNG."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, Response, abort, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.addresses.matrix import MatrixAddress, read_matrix
from offdiag_web.charts.matrix_map import PALETTE_VERSION
from offdiag_web.pages.run_frame import RUN, results_of, stored_run
from offdiag_web.palette import Theme
from offdiag_web.presenters.class_order import class_order
from offdiag_web.presenters.matrix import matrix_view
from offdiag_web.presenters.matrix_documents import latex_table, markdown_table
from offdiag_web.presenters.matrix_pictures import (
    LARGEST_DRAWING,
    map_pixels,
    matrix_drawing,
    matrix_map,
)

blueprint = Blueprint("matrix_files", __name__)


@blueprint.get(f"{RUN}/matrix.md")
def markdown(run_id: str) -> Response:
    matrix, address = _asked(run_id)
    return _file(markdown_table(matrix_view(matrix, address)), "text/markdown", address, "md")


@blueprint.get(f"{RUN}/matrix.tex")
def latex(run_id: str) -> Response:
    matrix, address = _asked(run_id)
    source = f"offdiag run {run_id}, matrix {matrix.digest[:12]}"
    text = latex_table(matrix_view(matrix, address), source=source)
    return _file(text, "application/x-tex", address, "tex")


@blueprint.get(f"{RUN}/matrix.svg")
def drawing(run_id: str) -> Response:
    matrix, address = _asked(run_id)
    return _file(matrix_drawing(matrix, address, theme=_theme()), "image/svg+xml", address, "svg")


@blueprint.get(f"{RUN}/matrix.png")
def picture(run_id: str) -> Response:
    """Shown inside the page, so it is no download; the same picture is not sent twice."""
    address, _ = read_matrix(run_id, request.args)
    matrix = results_of(stored_run(run_id)).matrix
    theme = _theme()
    answer = Response(mimetype="image/png")
    shown = (address.order, address.norm, address.transposed, address.rarest)
    digest = "-".join(map(str, (matrix.digest, *shown, theme, PALETTE_VERSION)))
    answer.set_etag(digest)
    answer.cache_control.no_cache = True
    if digest not in request.if_none_match:
        answer.set_data(matrix_map(matrix, address, theme=theme))
    return cast(Response, answer.make_conditional(request))


@blueprint.get(f"{RUN}/matrix/at")
def class_at(run_id: str) -> AnyResponse:
    """The page with the actual class of the place that was clicked on the map."""
    address, _ = read_matrix(run_id, request.args)
    matrix = results_of(stored_run(run_id)).matrix
    down, across = (_place(f"at.{axis}", matrix.n_classes) for axis in ("y", "x"))
    code = class_order(matrix, address.order)[across if address.transposed else down]
    chosen = MatrixAddress(
        run_id,
        address.norm,
        address.order,
        address.transposed,
        matrix.labels.names[code],
        address.rarest,
    )
    return redirect(f"{chosen.url()}#matrix-title", 303)


def _place(name: str, n_classes: int) -> int:
    """Which class lies at a coordinate of the map, in its own pixels."""
    text = request.args.get(name, "")
    if not (text.isascii() and text.isdigit()):
        abort(400)
    return min(int(text[:9]) // map_pixels(n_classes), n_classes - 1)


def _asked(run_id: str) -> tuple[ConfusionMatrix, MatrixAddress]:
    address, _ = read_matrix(run_id, request.args)
    matrix = results_of(stored_run(run_id)).matrix
    if matrix.n_classes > LARGEST_DRAWING:
        raise InvalidInput(
            f"{matrix.n_classes:,} classes are too many to be written out cell by cell.",
            field="run",
            hint=f"Up to {LARGEST_DRAWING} are; CSV and PNG take any number.",
        )
    return matrix, address


def _theme() -> Theme:
    return "dark" if request.args.get("theme") == "dark" else "light"


def _file(text: str, mimetype: str, address: MatrixAddress, ending: str) -> Response:
    answer = Response(text, mimetype=mimetype)
    name = f"{address.run_id}-matrix{'-transposed' if address.transposed else ''}.{ending}"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
