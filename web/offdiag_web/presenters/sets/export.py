"""The counts of a multi-label run for machines: exact, in full precision, axes named."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.counted import CountedSets
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.addresses.label_sets import LabelSetsAddress
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.matrix_documents import markdown_lines, markdown_text
from offdiag_web.presenters.run_export import metadata_record
from offdiag_web.presenters.sets.label_tables import label_codes
from offdiag_web.presenters.sets.mass_table import mass_table

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
    """The head of the grid, whose corner names both axes."""
    return ("actual \\ predicted", *counted.labels.names)


def grid_rows(counted: CountedSets) -> Iterator[tuple[Cell, ...]]:
    """A line for each actual label, with the mass on every predicted one."""
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
        "n_cases_in_matrix": found.n_cases,
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
        **metadata_record(detail),
        "work": None,
        "aggregate": {key: value.to_dict() for key, value in results.aggregate.items()},
        "costs": None,
        "confusion_matrix": None,
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
                f"**{markdown_text(line.head.name)}**",
                *(cell.text.replace("<", "\\<") for cell in line.cells),
                line.total,
            ]
            for line in view.lines
        ),
        ["Mass", *view.totals, view.total],
    ]
    return markdown_lines(lines, view.caption)


def _exact(counted: CountedSets) -> dict[int, Fraction]:
    """The exact mass of every cell that has any, by actual * q + predicted."""
    mass = counted.tally.mass
    common = mass.common_denominator()
    return {
        cell: Fraction(numerator, common)
        for cell, numerator in mass.over_common_denominator().items()
    }


def _nested(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in values.tolist()]
