"""Runs as JSON and CSV: one run with its matrix, and the entries of a list."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import swap_axes
from offdiag.records.runs.run import plain_results, run_document
from offdiag.records.runs.run_list import run_summary
from offdiag.store.run_list import RunOverview
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.exports import Cell
from offdiag_web.components.classes import Grouping, class_order
from offdiag_web.urls.filter_line import filter_text
from offdiag_web.urls.run import MatrixAddress
from offdiag_web.urls.run_list import RunListAddress

LARGEST_DENSE = 1_000
"""Matrices up to this many classes are written in full, larger ones as their non-zero cells."""


def matrix_record(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None = None
) -> dict[str, object]:
    """The matrix in the orientation and class order of the view, which it states.

    `groups` lists the classes of the labels that stand for several.
    """
    codes = class_order(matrix, address.order, grouping)
    names = [matrix.labels.names[code] for code in codes]
    record: dict[str, object] = {"labels": names, **_axes(address)}
    if grouping is not None and grouping.collapse.groups:
        record["groups"] = grouping.collapse.to_dict()
    if len(codes) <= LARGEST_DENSE:
        return {**record, "matrix": _laid_out(matrix, codes, address).tolist()}
    cells = _filled_cells(matrix, address, grouping)
    return {**record, "cells": [list(cell) for cell in cells]}


def _axes(address: MatrixAddress) -> dict[str, object]:
    stored, swapped = SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS
    return {
        "orientation": (swapped if address.transposed else stored).value,
        "axes": address.laid_out("actual", "predicted"),
    }


def long_columns(address: MatrixAddress) -> tuple[str, ...]:
    """Header of one line per cell: the axis that runs down the view comes first."""
    return (
        *address.laid_out("actual", "predicted"),
        "count",
        "share_of_actual",
        "share_of_predicted",
        "share_of_all",
    )


def long_rows(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None = None
) -> Iterator[tuple[Cell, ...]]:
    """One line for every non-zero and every diagonal cell, in view order."""
    for first, second, count in _filled_cells(matrix, address, grouping):
        index = matrix.labels.index
        actual, predicted = address.laid_out(first, second)
        yield (
            first,
            second,
            count,
            _share(count, int(matrix.actual[index[actual]])),
            _share(count, int(matrix.predicted[index[predicted]])),
            _share(count, matrix.total),
        )


def grid_columns(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None = None
) -> tuple[str, ...]:
    """Header of one line per class; its corner says which axis runs down and which across."""
    codes = class_order(matrix, address.order, grouping)
    names = [matrix.labels.names[code] for code in codes]
    rows, columns = address.laid_out("actual", "predicted")
    return (f"{rows} (rows) / {columns} (columns)", *names)


def grid_rows(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None = None
) -> Iterator[tuple[Cell, ...]]:
    """One line per class of the axis that runs down the view."""
    codes = class_order(matrix, address.order, grouping)
    for code, line in zip(codes, _laid_out(matrix, codes, address).tolist(), strict=True):
        yield (matrix.labels.names[code], *line)


def _filled_cells(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None
) -> Iterator[tuple[str, str, int]]:
    """(down, across, count) of the view, without the empty cells off the diagonal."""
    codes = class_order(matrix, address.order, grouping)
    laid_out = _laid_out(matrix, codes, address)
    filled = laid_out > 0
    np.fill_diagonal(filled, val=True)
    names = [matrix.labels.names[code] for code in codes]
    for down, across in np.argwhere(filled).tolist():
        yield names[down], names[across], int(laid_out[down, across])


def _laid_out(
    matrix: ConfusionMatrix, codes: list[int], address: MatrixAddress
) -> NDArray[np.int64]:
    """Counts in class order, the axis that runs down the view first."""
    counts = matrix.counts[np.ix_(codes, codes)]
    laid_out: NDArray[np.int64] = swap_axes(counts) if address.transposed else counts
    return laid_out


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


AGGREGATE_COLUMNS = ("key", "value", "reason", "limit", "ci_low", "ci_high", "ci_method")


def run_record(
    detail: RunDetail, address: MatrixAddress, grouping: Grouping | None = None
) -> dict[str, object]:
    """Metadata, aggregates and matrix in one document.

    If `grouping` collapses groups, aggregates and matrix are those of the collapsed classes.
    """
    results = detail.results
    return {
        **run_document(detail).plain(),
        **plain_results(results),
        "confusion_matrix": None
        if results is None
        else matrix_record(results.matrix, address, grouping),
        "weighted": None,
    }


def aggregate_rows(results: RunResults) -> list[tuple[Cell, ...]]:
    """All aggregates as CSV rows, in the order of `AGGREGATE_COLUMNS`."""
    return [
        (key, v.value, v.reason, v.limit, v.ci_low, v.ci_high, v.ci_method)
        for key, v in sorted(results.aggregate.items())
    ]


def run_list_record(overview: RunOverview, address: RunListAddress) -> dict[str, object]:
    """The page as one JSON document; `next` is the address of the next page.

    If not all runs are counted, `total` is None and there are more than `more_than`.
    """
    page = overview.page
    following = None
    if page.following is not None:
        following = RunListAddress(
            address.terms, address.order, address.scale, page.following
        ).url("json")
    return {
        "dataset": overview.scope.name if overview.scope else None,
        "filter": filter_text(address.terms),
        "ignored": [
            {"term": parsed.text, "reason": parsed.problem}
            for parsed in address.terms
            if parsed.problem
        ],
        "sort": {"by": overview.order.name, "descending": overview.order.descending},
        "total": page.total if page.counts_all else None,
        "more_than": None if page.counts_all else page.total,
        "position": page.position,
        "runs": [run_summary(entry).plain() for entry in page.entries],
        "n_without_slices": overview.n_without_slices,
        "n_weighted": page.n_weighted,
        "next": following,
    }
