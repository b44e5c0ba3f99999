"""The first page of a run: primary metrics, confusion matrix, recall of each class."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.audit.audit import audit_of_tags
from offdiag.audit.findings import AuditReport
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.weighted.counts import WeightedCounts, of_weights
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.exports import csv_response
from offdiag_web.app.parameters import understood
from offdiag_web.components.classes import (
    Grouping,
    class_order,
    default_order,
    most_frequent,
)
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix import (
    CellUrl,
    group_controls,
    matrix_density,
    matrix_view,
)
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.runs.export import (
    AGGREGATE_COLUMNS,
    aggregate_rows,
    grid_columns,
    grid_rows,
    long_columns,
    long_rows,
    matrix_record,
    run_record,
)
from offdiag_web.components.runs.frame import RUN, run_page, stored_run
from offdiag_web.components.slices import worst_slices
from offdiag_web.components.tiles import Headline, cost_tile, headline
from offdiag_web.pages.run_matrix import sets_page, weighted_page
from offdiag_web.pages.run_matrix.class_panel import class_panel
from offdiag_web.pages.run_matrix.displayed import (
    displayed_run,
    matrix_file_name,
    requested_matrix,
)
from offdiag_web.pages.run_matrix.map_view import (
    map_of,
    superclasses,
    window_of,
)
from offdiag_web.pages.run_matrix.unlabelled import unlabelled_run
from offdiag_web.urls.query_string import groups_text
from offdiag_web.urls.run import (
    ClassOrder,
    MatrixAddress,
    Norm,
    cell_url,
    numbered_cell_url,
    read_layout,
    read_matrix,
)

_NORM_TEXTS: tuple[tuple[Norm, str], ...] = (
    ("row", "% actual"),
    ("col", "% predicted"),
    ("all", "% all"),
    ("none", "Counts"),
)
_ORDER_TEXTS: tuple[tuple[ClassOrder, str], ...] = (
    ("support", "Support"),
    ("label", "Label"),
    ("cluster", "Clustered"),
)
_BY_GROUP: tuple[ClassOrder, str] = ("group", "Group")


def norm_segments(address: MatrixAddress) -> tuple[Segment, ...]:
    """The choices for the second number; `n` is the shortcut to the next one."""
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
    """The orders of classes; `o` is the shortcut to the next one."""
    default = (
        "cluster"
        if _starts_clustered(matrix, grouping)
        else default_order(matrix.labels, grouping)
    )
    texts = _ORDER_TEXTS if grouping is None else (_BY_GROUP, *_ORDER_TEXTS)
    names = [order for order, _ in texts]
    current = address.order if address.order in names else default
    following = names[(names.index(current) + 1) % len(names)]
    return tuple(
        Segment(
            text,
            replace(address, order=None if order == "support" == default else order).url(),
            order == current,
            "o" if order == following else None,
        )
        for order, text in texts
    )


def _starts_clustered(matrix: ConfusionMatrix, grouping: Grouping | None) -> bool:
    """Whether confused classes are placed together unless the reader chooses another order."""
    is_large = matrix.n_classes > LARGEST_TABLE
    return is_large and default_order(matrix.labels, grouping) == "support"


def transpose_segment(address: MatrixAddress) -> Segment:
    """The switch between the stored orientation and its transposed view."""
    other = replace(address, transposed=not address.transposed)
    return Segment("Transpose view", other.url(), address.transposed, "t")


LARGEST_TABLE = 30
"""Most classes shown in one table; a larger one is too much for browsers and readers."""


def matrix_page(
    results: RunResults,
    address: MatrixAddress,
    notices: list[str],
    *,
    has_examples: bool,
    grouping: Grouping | None,
) -> dict[str, object]:
    """Present the results of a run according to its address, and add to the notices.

    With `has_examples`, counts link to the predictions they count. `grouping` refers to the
    classes of the results. `window` and `map` are None if the table shows everything.
    """
    run_id = address.run_id if has_examples else None
    notes = Notes()
    matrix = results.matrix
    window, codes, whole = None, None, None
    if matrix.n_classes > LARGEST_TABLE:
        order = class_order(matrix, address.order, grouping)
        window, said = window_of(matrix, order, address, has_examples=has_examples)
        notices += said
        codes = window.codes
        whole = map_of(matrix, order, address, window, grouping)
    view = matrix_view(
        matrix,
        address,
        codes,
        cell_url=cell_url_of(run_id, matrix, grouping, address.part),
        grouping=grouping,
        looked_at=None if window is None else window.cell,
    )
    return {
        "headline": _headline(results, notes),
        "matrix": view,
        "n_classes": matrix.n_classes,
        "window": window,
        "map": whole,
        "norms": norm_segments(address),
        "orders": order_segments(matrix, address, grouping),
        "transpose": transpose_segment(address),
        "classes": class_panel(results, address, notes, run_id=run_id, grouping=grouping),
        "class_orders": (
            Segment("Support", replace(address, worst_first=False).url(), not address.worst_first),
            Segment("Recall", replace(address, worst_first=True).url(), address.worst_first),
        ),
        "confusions": most_frequent(matrix, at_most=6, run_id=run_id, part=address.part),
        "notes": tuple(notes.texts),
        "groups": (
            None
            if grouping is None
            else group_controls(grouping, address, with_list=window is None and not view.bands)
        ),
        "superclasses": superclasses(matrix, grouping) if window else None,
    }


def _headline(results: RunResults, notes: Notes) -> Headline:
    """The primary metrics, and what the errors cost if costs are set."""
    found = headline(results, notes)
    if results.costs is None:
        return found
    tile = cost_tile(results.costs, notes, n_cases=results.matrix.total)
    return replace(found, tiles=(*found.tiles, tile))


def cell_url_of(
    run_id: str | None,
    matrix: ConfusionMatrix,
    grouping: Grouping | None = None,
    part: str | None = None,
) -> CellUrl | None:
    """The links of the cells of a run, or of a slice; None if it has no predictions to show.

    The links of many cells with two long names each would outweigh the page, so dense tables use
    numbers, and those addresses redirect to the ones with names.
    """
    if run_id is None:
        return None
    names = matrix.labels.names
    if len(names) <= LARGEST_TABLE and matrix_density(len(names)) == "dense":
        codes = range(len(names)) if grouping is None else grouping.short_codes
        return lambda actual, predicted: numbered_cell_url(
            run_id, codes[actual], codes[predicted], part
        )
    return lambda actual, predicted: cell_url(run_id, names[actual], names[predicted], part)


blueprint = Blueprint("run_matrix", __name__)


@blueprint.get(RUN)
def page(run_id: str) -> Response:
    address, notices = read_matrix(run_id, request.args)
    detail = stored_run(run_id, address.part)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.first_page(detail)
    if detail.results is not None and isinstance(detail.results.counted, WeightedCounts):
        if address.collapse:
            raise of_weights("A matrix of groups")
        return weighted_page.first_page(detail, detail.results, address)
    view, counts = None, None
    if detail.results is not None:
        has_examples = detail.run.source is SourceOrientation.PREDICTIONS
        seen = displayed_run(detail.run, detail.results, address)
        address = seen.address
        if address.order is None and _starts_clustered(seen.results.matrix, seen.grouping):
            address = replace(address, order="cluster")
        notices += seen.notices
        counts = unlabelled_run(detail)
        if counts is None:
            view = matrix_page(
                seen.results,
                address,
                notices,
                has_examples=has_examples,
                grouping=seen.grouping,
            )
    return run_page(
        "run_matrix/page.html",
        detail,
        "matrix",
        address=address,
        collapse=groups_text(address.collapse),
        view=view,
        counts=counts,
        slices=worst_slices(run_id, detail.results.counted)
        if view and detail.results and address.part is None
        else (),
        audit=None if address.part else _audit_of_reported(detail),
        notices=notices,
    )


def _audit_of_reported(detail: RunDetail) -> AuditReport | None:
    if detail.results is None:
        return None
    return audit_of_tags(detail.run.tags, detail.results.matrix)


@blueprint.get(f"{RUN}.json")
def run_json(run_id: str) -> Response:
    address = understood(read_matrix(run_id, request.args))
    detail = stored_run(run_id, address.part)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.run_json(detail)
    if detail.results is None:
        return jsonify(run_record(detail, address))
    if isinstance(detail.results.counted, WeightedCounts):
        return weighted_page.run_json(detail)
    seen = displayed_run(detail.run, detail.results, address)
    shown = replace(detail, results=seen.results)
    return jsonify(run_record(shown, seen.address, seen.grouping))


@blueprint.get(f"{RUN}.csv")
def run_csv(run_id: str) -> Response:
    address = understood(read_matrix(run_id, request.args))
    seen = requested_matrix(address)
    name = f"{run_id}{'-slice' if address.part else ''}{'-collapsed' if seen.collapse else ''}"
    return csv_response(name, AGGREGATE_COLUMNS, aggregate_rows(seen.results))


@blueprint.get(f"{RUN}/matrix.json")
def matrix_json(run_id: str) -> Response:
    address = understood(read_matrix(run_id, request.args))
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_json(seen.results.counted)
    if isinstance(seen.results.counted, WeightedCounts):
        return weighted_page.matrix_json(seen.results.counted)
    return jsonify(matrix_record(seen.results.matrix, seen.address, seen.grouping))


@blueprint.get(f"{RUN}/matrix.csv")
def matrix_csv(run_id: str) -> Response:
    layout = read_layout(request.args)
    address = understood(read_matrix(run_id, request.args))
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_csv(run_id, seen.results.counted)
    if isinstance(seen.results.counted, WeightedCounts):
        return weighted_page.matrix_csv(run_id, seen.results.counted)
    matrix, address, grouping = seen.results.matrix, seen.address, seen.grouping
    name = matrix_file_name(address)
    if layout == "grid":
        columns = grid_columns(matrix, address, grouping)
        return csv_response(name, columns, grid_rows(matrix, address, grouping))
    return csv_response(name, long_columns(address), long_rows(matrix, address, grouping))
