"""The first page of a run: headline numbers, confusion matrix, recall of each class."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets
from offdiag.store.run_page import RunResults
from offdiag_web.app.exports import csv_response
from offdiag_web.components.classes import (
    WINDOW_CLASSES,
    ConfusionList,
    Grouping,
    busiest_class,
    default_order,
    most_frequent,
    window_around,
)
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix import (
    CellUrl,
    GroupControls,
    MatrixView,
    group_controls,
    matrix_density,
    matrix_view,
)
from offdiag_web.components.run_export import (
    AGGREGATE_COLUMNS,
    aggregate_rows,
    grid_columns,
    grid_rows,
    long_columns,
    long_rows,
    matrix_record,
    run_record,
)
from offdiag_web.components.run_frame import RUN, run_page, stored_run
from offdiag_web.components.tiles import Headline, cost_tile, headline
from offdiag_web.components.values import Notes
from offdiag_web.pages.run_matrix import sets_page
from offdiag_web.pages.run_matrix.class_panel import ClassPanel, class_panel
from offdiag_web.pages.run_matrix.displayed import (
    displayed_run,
    matrix_file_name,
    requested_matrix,
)
from offdiag_web.pages.run_matrix.drawings import map_pixels
from offdiag_web.urls.examples import cell_url, numbered_cell_url
from offdiag_web.urls.matrix import ClassOrder, MatrixAddress, Norm, read_layout, read_matrix
from offdiag_web.urls.query_string import groups_text

_NORM_TEXTS: tuple[tuple[Norm, str], ...] = (
    ("row", "% of actual"),
    ("col", "% of predicted"),
    ("all", "% of all"),
    ("none", "counts"),
)
_ORDER_TEXTS: tuple[tuple[ClassOrder, str], ...] = (
    ("support", "by support"),
    ("label", "by label"),
    ("cluster", "confused together"),
)
_BY_GROUP: tuple[ClassOrder, str] = ("group", "by group")


def norm_segments(address: MatrixAddress) -> tuple[Segment, ...]:
    """What the second number may be; `n` leads to the next one."""
    names = [norm for norm, _ in _NORM_TEXTS]
    following = names[(names.index(address.norm) + 1) % len(names)]
    return tuple(
        Segment(
            text,
            replace(address, norm=norm).url(),
            norm == address.norm,
            "n" if norm == following else None,
        )
        for norm, text in _NORM_TEXTS
    )


def order_segments(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None
) -> tuple[Segment, ...]:
    """How classes may be ordered; `o` leads to the next one."""
    default = default_order(matrix.labels, grouping)
    texts = _ORDER_TEXTS if grouping is None else (_BY_GROUP, *_ORDER_TEXTS)
    names = [order for order, _ in texts]
    current = address.order if address.order in names else default
    following = names[(names.index(current) + 1) % len(names)]
    return tuple(
        Segment(
            text,
            replace(address, order=None if order == default else order).url(),
            order == current,
            "o" if order == following else None,
        )
        for order, text in texts
    )


def transpose_segment(address: MatrixAddress) -> Segment:
    """The switch between the stored orientation and its transposed view."""
    other = replace(address, transposed=not address.transposed)
    return Segment("Transpose view", other.url(), address.transposed, "t")


LARGEST_TABLE = 30
"""Up to this many classes the matrix is one table; above, a browser and a reader get lost."""
LARGEST_CHOICE = 1_000
"""Up to this many classes can be picked from a list; above, their name is typed."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which class a window is about, and which others could be chosen."""

    focus: str
    n_others: int
    choices: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Map:
    """The whole matrix as a picture, `side` CSS pixels wide and high."""

    light_url: str
    dark_url: str
    side: int
    name: str
    rarest: int


@dataclass(frozen=True, slots=True)
class MatrixPage:
    """Everything below the header. `window` and `map` are None where a table shows it all."""

    headline: Headline
    matrix: MatrixView
    n_classes: int
    window: Window | None
    map: Map | None
    norms: tuple[Segment, ...]
    orders: tuple[Segment, ...]
    transpose: Segment
    classes: ClassPanel
    confusions: ConfusionList
    notes: tuple[str, ...]
    notices: tuple[str, ...]
    groups: GroupControls | None = None
    """Where the classes of the dataset are in groups."""


def matrix_page(
    results: RunResults,
    address: MatrixAddress,
    *,
    has_examples: bool,
    grouping: Grouping | None = None,
) -> MatrixPage:
    """Present the results of a run as its address asks for.

    With `has_examples`, counts lead to the predictions they count. `grouping` is about the
    classes of the results.
    """
    run_id = address.run_id if has_examples else None
    notes = Notes()
    matrix = results.matrix
    window, codes = None, None
    notices: list[str] = []
    if matrix.n_classes > LARGEST_TABLE:
        focus, notices = _focus(matrix, address)
        codes = window_around(matrix, focus)
        window = _window(matrix, focus)
    view = matrix_view(
        matrix,
        address,
        codes,
        cell_url=cell_url_of(run_id, matrix, grouping),
        grouping=grouping,
    )
    return MatrixPage(
        headline=_headline(results, notes),
        matrix=view,
        n_classes=matrix.n_classes,
        window=window,
        map=_map(matrix, address) if window else None,
        norms=norm_segments(address),
        orders=order_segments(matrix, address, grouping),
        transpose=transpose_segment(address),
        classes=class_panel(results, address.order, notes, run_id=run_id, grouping=grouping),
        confusions=most_frequent(matrix, at_most=12 if window else 8, run_id=run_id),
        notes=tuple(notes.texts),
        notices=tuple(notices),
        groups=None
        if grouping is None
        else group_controls(grouping, address, with_list=window is not None or not view.bands),
    )


def _headline(results: RunResults, notes: Notes) -> Headline:
    """The numbers people quote, and what the errors cost where somebody said so."""
    found = headline(results, notes)
    if results.costs is None:
        return found
    tile = cost_tile(results.costs, notes, n_cases=results.matrix.total)
    return replace(found, tiles=(*found.tiles, tile))


def cell_url_of(
    run_id: str | None, matrix: ConfusionMatrix, grouping: Grouping | None = None
) -> CellUrl | None:
    """Where the cells of a run lead to; None where it has no predictions to show.

    Many cells with two long names each would outweigh the page, so where a table is dense they
    are named by number, and their address leads on to the one with the names.
    """
    if run_id is None:
        return None
    names = matrix.labels.names
    if len(names) <= LARGEST_TABLE and matrix_density(len(names)) == "dense":
        codes = range(len(names)) if grouping is None else grouping.short_codes
        return lambda actual, predicted: numbered_cell_url(run_id, codes[actual], codes[predicted])
    return lambda actual, predicted: cell_url(run_id, names[actual], names[predicted])


def _map(matrix: ConfusionMatrix, address: MatrixAddress) -> Map:
    light = address.url("png")
    down, across = ("Predicted", "actual") if address.transposed else ("Actual", "predicted")
    return Map(
        light_url=light,
        dark_url=f"{light}{'&' if '?' in light else '?'}theme=dark",
        side=matrix.n_classes * map_pixels(matrix.n_classes),
        name=(
            f"Map of all {matrix.n_classes} classes: {down.lower()} downwards, {across} to the "
            "right. The table of the most frequent confusions says what it shows in words"
        ),
        rarest=address.rarest,
    )


def _focus(matrix: ConfusionMatrix, address: MatrixAddress) -> tuple[int, list[str]]:
    if address.focus is None:
        return busiest_class(matrix), []
    code = matrix.labels.index.get(address.focus)
    if code is None:
        notice = f"There is no class “{address.focus}”; this is the one with the largest error."
        return busiest_class(matrix), [notice]
    return code, []


def _window(matrix: ConfusionMatrix, focus: int) -> Window:
    names = matrix.labels.names
    choices = tuple(sorted(names)) if len(names) <= LARGEST_CHOICE else None
    return Window(names[focus], WINDOW_CLASSES - 1, choices)


blueprint = Blueprint("run_matrix", __name__)


@blueprint.get(RUN)
def page(run_id: str) -> Response:
    address, notices = read_matrix(run_id, request.args)
    detail = stored_run(run_id)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.first_page(detail)
    view = None
    if detail.results is not None:
        has_examples = detail.run.source is SourceOrientation.PREDICTIONS
        seen = displayed_run(detail.run, detail.results, address)
        address = seen.address
        view = matrix_page(
            seen.results, address, has_examples=has_examples, grouping=seen.grouping
        )
        notices += [*seen.notices, *view.notices]
    return run_page(
        "run_matrix/page.html",
        detail,
        "matrix",
        address=address,
        collapse=groups_text(address.collapse),
        view=view,
        notices=notices,
    )


@blueprint.get(f"{RUN}.json")
def run_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    detail = stored_run(run_id)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.run_json(detail)
    if detail.results is None:
        return jsonify(run_record(detail, address))
    seen = displayed_run(detail.run, detail.results, address)
    shown = replace(detail, results=seen.results)
    return jsonify(run_record(shown, seen.address, seen.grouping))


@blueprint.get(f"{RUN}.csv")
def run_csv(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    name = f"{run_id}-collapsed" if seen.collapse else run_id
    return csv_response(name, AGGREGATE_COLUMNS, aggregate_rows(seen.results))


@blueprint.get(f"{RUN}/matrix.json")
def matrix_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_json(seen.results.counted)
    return jsonify(matrix_record(seen.results.matrix, seen.address, seen.grouping))


@blueprint.get(f"{RUN}/matrix.csv")
def matrix_csv(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_csv(run_id, seen.results.counted)
    matrix, address, grouping = seen.results.matrix, seen.address, seen.grouping
    name = matrix_file_name(address)
    if read_layout(request.args) == "grid":
        columns = grid_columns(matrix, address, grouping)
        return csv_response(name, columns, grid_rows(matrix, address, grouping))
    return csv_response(name, long_columns(address), long_rows(matrix, address, grouping))
