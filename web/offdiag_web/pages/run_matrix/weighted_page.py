"""The first page of a run with sample weights, and its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

import numpy as np
from flask import jsonify
from numpy.typing import NDArray
from werkzeug.wrappers import Response

from offdiag.domain.number_text import percent
from offdiag.domain.values import MetricValue
from offdiag.flags.assessment import unchecked_rules
from offdiag.flags.catalogue import RULES
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.records.runs.evaluation import run_with_results, weighted_body
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.exports import Cell, csv_response
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.components.metric_values import Notes, ShownValue, interval_text, shown
from offdiag_web.components.runs.frame import run_page
from offdiag_web.components.tiles import Headline, cost_tile, headline
from offdiag_web.pages.run_matrix.unlabelled import unlabelled_run
from offdiag_web.urls.run import MatrixAddress

LARGEST_TABLE = 30
"""Most classes for which the matrix is shown; files have all of it."""
_SMALLEST_SHOWN, _LARGEST_SHOWN = 1e-4, 1e12
"""Sums of weights beyond these are written with exponents."""
_OF_CLASS = ("recall", "precision", "f1")


@dataclass(frozen=True, slots=True)
class WeightLine:
    """A class: its cells, and its metrics with intervals.

    `samples` counts its examples; `effective` is the number of equally weighted ones that carry as
    much information.
    """

    head: ClassHead
    cells: tuple[tuple[str, str, bool], ...]
    weight: str
    samples: str
    effective: str
    values: tuple[tuple[ShownValue, str | None], ...]


def weighted_page(results: RunResults, counted: WeightedCounts) -> dict[str, object]:
    """Present the results of a run with weights; `heads` is empty for too many classes.

    `not_checked` are rules that raise no flag for any weighted run, with the reason.
    """
    notes = Notes()
    found = headline(results, notes)
    if results.costs is not None:
        tile = cost_tile(results.costs, notes, n_cases=max(1, round(counted.weights.total)))
        found = Headline((*found.tiles, tile), found.n_cases, found.caution)
    heads = tuple(map(class_head, counted.labels.names))
    is_read = counted.n_classes <= LARGEST_TABLE
    return {
        "headline": found,
        "n_samples": numbers.count(counted.total),
        "n_effective": numbers.count(round(counted.n_effective)),
        "heads": heads if is_read else (),
        "lines": tuple(
            _line(
                *(results, counted, code, heads[code], notes),
                with_cells=is_read,
                decimals=decimals_of(counted.sums),
            )
            for code in range(counted.n_classes)
        ),
        "notes": tuple(notes.texts),
        "not_checked": tuple(
            f"{rule} {RULES[rule].title}: {why}." for rule, why in unchecked_rules(counted).items()
        ),
    }


def _line(
    results: RunResults,
    counted: WeightedCounts,
    code: int,
    head: ClassHead,
    notes: Notes,
    *,
    with_cells: bool,
    decimals: int,
) -> WeightLine:
    total = float(counted.weights.actual[code])
    return WeightLine(
        head=head,
        cells=tuple(
            (weight_text(weight, decimals), _share(weight, total), code == place)
            for place, weight in enumerate(counted.sums[code].tolist())
        )
        if with_cells
        else (),
        weight=weight_text(total, decimals),
        samples=numbers.count(int(counted.actual_samples[code])),
        effective=numbers.count(int(counted.class_sizes[code])),
        values=tuple(_value(results.per_class[key][code], notes) for key in _OF_CLASS),
    )


def _value(value: MetricValue, notes: Notes) -> tuple[ShownValue, str | None]:
    return shown(value, notes), interval_text(value)


def decimals_of(sums: NDArray[np.float64]) -> int:
    """Decimals for all sums of a table: as many as needed, at most five digits of the largest."""
    largest = float(sums.max(initial=0.0))
    most = max(0, 4 - floor(log10(largest))) if largest >= _SMALLEST_SHOWN else 0
    return next((n for n in range(most) if np.array_equal(np.round(sums, n), sums)), most)


def weight_text(weight: float, decimals: int) -> str:
    """A sum with the decimals of the table, or with an exponent if it would be lost or is huge."""
    is_lost = 0 < weight < 0.5 / 10**decimals
    return f"{weight:.2g}" if is_lost or weight >= _LARGEST_SHOWN else f"{weight:,.{decimals}f}"


def _share(weight: float, total: float) -> str:
    return percent(weight / total) if total > 0 else ""


LONG_COLUMNS = ("actual", "predicted", "weight", "share_of_actual", "examples", "squared_weights")


def long_rows(counted: WeightedCounts) -> Iterator[tuple[Cell, ...]]:
    """A line for each non-empty cell."""
    names, totals = counted.labels.names, counted.weights.actual
    for actual, predicted in zip(*np.nonzero(counted.samples), strict=True):
        weight, total = float(counted.sums[actual, predicted]), float(totals[actual])
        yield (
            names[actual],
            names[predicted],
            weight,
            weight / total if total > 0 else None,
            int(counted.samples[actual, predicted]),
            float(counted.squares[actual, predicted]),
        )


def first_page(detail: RunDetail, results: RunResults, address: MatrixAddress) -> Response:
    counts = unlabelled_run(detail)
    counted = results.counted
    assert isinstance(counted, WeightedCounts)  # noqa: S101  # ensured by the caller
    view = weighted_page(results, counted) if counts is None else None
    return run_page(
        "run_matrix/weighted.html", detail, "matrix", address=address, view=view, counts=counts
    )


def run_json(detail: RunDetail) -> Response:
    """A run with its metadata, values and sums of weights."""
    return jsonify(run_with_results(detail).plain())


def matrix_json(counted: WeightedCounts) -> Response:
    """Only the sums, with the names of the classes."""
    body = weighted_body(counted)
    assert body is not None  # noqa: S101  # It has weights.
    return jsonify({"labels": list(counted.labels.names), **body.plain()})


def matrix_csv(run_id: str, counted: WeightedCounts) -> Response:
    """The sums, a line for each pair of classes that occurs."""
    return csv_response(f"{run_id}-weights", LONG_COLUMNS, long_rows(counted))
