"""The first page of a multi-label run and its files, at the same addresses as for classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flask import Response as File
from flask import jsonify, request
from numpy.typing import NDArray
from werkzeug.wrappers import Response

from offdiag.errors import InvalidInput
from offdiag.metrics.counted import CountedSets, sets_of
from offdiag.records.runs.multilabel import confused_document
from offdiag.records.runs.run import plain_results, run_document
from offdiag.services.multilabel import confused_labels_of
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import Cell, attachment, csv_response
from offdiag_web.app.parameters import understood
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.runs.frame import results_of, run_page
from offdiag_web.components.tiles import Headline, Tile, metric_tile, own_tiles, small_classes
from offdiag_web.pages.run_matrix.drawings import markdown_lines, markdown_text
from offdiag_web.pages.run_matrix.sets_tables import (
    LabelSetsAddress,
    label_codes,
    label_strips,
    label_tables,
    mass_table,
    norm_segments,
    order_segments,
    read_label_sets,
    window_of,
)
from offdiag_web.pages.run_matrix.unlabelled import unlabelled_run
from offdiag_web.urls.run import read_layout

MOST_MEMBERS_OF_A_PAGE = 5_000_000
"""Most samples times labels for which the page includes confused labels: one second."""
_TILES = (
    ("subset_accuracy", "Subset accuracy", "sets exactly right"),
    ("hamming_loss", "Hamming loss", "less is better"),
    ("example_jaccard", "Jaccard", "mean over examples"),
    ("micro_f1", "Micro F1", None),
    ("macro_f1", "Macro F1", "mean of label F1"),
)


def sets_page(
    results: RunResults, counted: CountedSets, address: LabelSetsAddress
) -> dict[str, object]:
    """Present the results of a run according to its address."""
    notes = Notes()
    codes = label_codes(results, counted, address.order)
    window = window_of(codes, address)
    shown = codes[window.start : window.end]
    empty = counted.tally.empty_sets
    return {
        "headline": _headline(results, counted, notes),
        "n_labels": counted.n_classes,
        "orders": order_segments(address),
        "strips": label_strips(results, counted, shown, notes),
        "tables": label_tables(counted, shown, address),
        "window": window,
        "norms": norm_segments(address),
        "matrix": mass_table(counted, shown, address),
        "empty": (
            ("No actual label", numbers.count(empty.n_true_empty)),
            ("No predicted label", numbers.count(empty.n_pred_empty)),
            ("Both", numbers.count(empty.both_empty)),
        ),
        "most_missed": _most(counted, empty.missed_when_pred_empty.tolist()),
        "most_spurious": _most(counted, empty.spurious_when_true_empty.tolist()),
        "notes": tuple(notes.texts),
    }


def _headline(results: RunResults, counted: CountedSets, notes: Notes) -> Headline:
    return Headline(
        tiles=(
            *(_tile(title, results, key, notes, detail=detail) for key, title, detail in _TILES),
            *own_tiles(results, notes),
        ),
        n_cases=numbers.count(results.facts.n_cases),
        caution=small_classes(counted.actual.tolist(), counted.labels.names, many="labels"),
    )


def _tile(title: str, results: RunResults, key: str, notes: Notes, *, detail: str | None) -> Tile:
    tile = metric_tile(title, results.aggregate.get(key), notes, scale=UNIT, detail=detail)
    return replace(tile, baseline=None)


def _most(counted: CountedSets, counts: list[int]) -> str | None:
    """The labels affected most by empty sets, most frequent first."""
    order = sorted(range(len(counts)), key=lambda code: -counts[code])
    parts = [
        f"{quoted_name(counted.labels.names[code])} {numbers.count(counts[code])}"
        for code in order
        if counts[code]
    ]
    return numbers.listed(parts) if parts else None


LONG_COLUMNS = ("actual", "predicted", "mass", "exact_mass", "row_share", "column_share")
CAPTION = "fractional shares, Algorithm 1"


def long_rows(counted: CountedSets) -> Iterator[tuple[Cell, ...]]:
    """A line for each pair of labels with mass, in label order; `exact_mass` is a fraction."""
    names, found = counted.labels.names, counted.matrix
    exact = _exact(counted)
    for place in sorted(exact):
        actual, predicted = divmod(place, counted.n_classes)
        yield (
            names[actual],
            names[predicted],
            float(found.cells[actual, predicted]),
            str(exact[place]),
            float(found.row_share.value[actual, predicted]),
            float(found.column_share.value[actual, predicted]),
        )


def grid_columns(counted: CountedSets) -> tuple[str, ...]:
    """The header of the grid; its corner names both axes."""
    return ("actual \\ predicted", *counted.labels.names)


def grid_rows(counted: CountedSets) -> Iterator[tuple[Cell, ...]]:
    """A line for each actual label, with its mass on every predicted one."""
    for name, masses in zip(counted.labels.names, counted.matrix.cells.tolist(), strict=True):
        yield (name, *masses)


def sets_record(counted: CountedSets) -> dict[str, object]:
    """The matrix, its shares, the table of each label and the empty sets."""
    found, cells = counted.matrix, counted.tally.labels.one_vs_rest()
    empty, size = counted.tally.empty_sets, counted.n_classes
    exact = _exact(counted)
    return {
        "labels": list(counted.labels.names),
        "orientation": "actual_rows",
        "caption": CAPTION,
        "n_cases": counted.total,
        "n_cases_in_matrix": found.n_samples,
        "multilabel_matrix": found.cells.tolist(),
        "exact": [
            [str(exact.get(row * size + column, Fraction(0))) for column in range(size)]
            for row in range(size)
        ],
        "row_share": _nested(found.row_share.value),
        "column_share": _nested(found.column_share.value),
        "label_counts": {
            key: np.asarray(getattr(cells, key)).astype(np.int64).tolist()
            for key in ("tp", "fn", "fp", "tn")
        },
        "empty_sets": {
            "both_empty": empty.both_empty,
            "n_true_empty": empty.n_true_empty,
            "n_pred_empty": empty.n_pred_empty,
            "missed_when_pred_empty": empty.missed_when_pred_empty.tolist(),
            "spurious_when_true_empty": empty.spurious_when_true_empty.tolist(),
        },
    }


def sets_run_record(
    detail: RunDetail, results: RunResults, counted: CountedSets
) -> dict[str, object]:
    """A multi-label run in one document: metadata, aggregates and what was counted."""
    return {
        **run_document(detail).plain(),
        **plain_results(results),
        "confusion_matrix": None,
        "weighted": None,
        "sets": sets_record(counted),
    }


def sets_markdown(results: RunResults, counted: CountedSets, address: LabelSetsAddress) -> str:
    """The matrix of all labels as a table that names both axes."""
    codes = label_codes(results, counted, address.order)
    view = mass_table(counted, codes, address)
    lines = [
        ["Actual ↓ Predicted →", *(markdown_text(head.name) for head in view.heads), "Mass"],
        ["---", *["---:"] * (len(codes) + 1)],
        *(
            [
                f"**{markdown_text(head.name)}**",
                *(text.replace("<", "\\<") for text, _, _ in cells),
                total,
            ]
            for head, cells, total in view.lines
        ),
        ["Mass", *view.totals, view.total],
    ]
    return markdown_lines(lines, view.caption)


def _exact(counted: CountedSets) -> dict[int, Fraction]:
    """The exact mass of every non-empty cell, by actual * q + predicted."""
    mass = counted.tally.mass
    common = mass.common_denominator()
    return {
        cell: Fraction(numerator, common)
        for cell, numerator in mass.over_common_denominator().items()
    }


def _nested(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in values.tolist()]


MOST_WRITTEN_OUT = 200
"""Most labels for which a document contains every cell of the matrix."""


def first_page(detail: RunDetail) -> Response:
    address, notices = read_label_sets(detail.run.id, request.args)
    view, counts, confused = None, unlabelled_run(detail), None
    if detail.results is not None and counts is None:
        counted = sets_of(detail.results.counted)
        view = sets_page(detail.results, counted, address)
        if counted.total * counted.n_classes <= MOST_MEMBERS_OF_A_PAGE:
            database = current_registry().database
            confused = confused_document(confused_labels_of(database, detail.run.id))
    return run_page(
        "run_matrix/sets.html",
        detail,
        "matrix",
        address=address,
        view=view,
        counts=counts,
        confused=confused,
        notices=notices,
    )


def run_json(detail: RunDetail) -> Response:
    """A run with its metadata, aggregates and what was counted."""
    if detail.results is None:
        return jsonify({**run_document(detail).plain(), **plain_results(None), "sets": None})
    return jsonify(sets_run_record(detail, detail.results, sets_of(detail.results.counted)))


def matrix_json(counted: CountedSets) -> Response:
    """Only the matrix."""
    return jsonify(sets_record(counted))


def matrix_csv(run_id: str, counted: CountedSets) -> Response:
    """The matrix, a line for each pair of labels or for each actual label."""
    if read_layout(request.args) == "grid":
        return csv_response(f"{run_id}-matrix", grid_columns(counted), grid_rows(counted))
    return csv_response(f"{run_id}-matrix", LONG_COLUMNS, long_rows(counted))


def matrix_markdown(detail: RunDetail) -> File:
    """The matrix as a table to paste. Raises `InvalidInput` for too many labels."""
    results = results_of(detail)
    counted = sets_of(results.counted)
    address = understood(read_label_sets(detail.run.id, request.args, default="support"))
    if counted.n_classes > MOST_WRITTEN_OUT:
        raise InvalidInput(
            f"{counted.n_classes:,} labels are too many for this format.",
            field="run",
            hint=f"It takes at most {MOST_WRITTEN_OUT}; CSV and JSON take any number.",
        )
    text = sets_markdown(results, counted, address)
    return attachment(text, "text/markdown", f"{detail.run.id}-matrix.md")
