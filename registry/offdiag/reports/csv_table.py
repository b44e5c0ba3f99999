"""Every value of a report as one line of CSV, with full precision and safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from offdiag.domain.values import MetricValue
from offdiag.reports.csv_cells import Cell, csv_cell
from offdiag.reports.report import Report
from offdiag.reports.snapshot import RunFigures

HEADER = (
    *("run", "name", "model", "slice", "truth_version", "suite_version", "cases", "scored"),
    *("metric", "class", "support", "value", "reason", "ci_low", "ci_high", "ci_method"),
)


def csv_text(report: Report) -> str:
    """A header line, then a line for each metric of each run, its classes and slices."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(HEADER)
    for run in (*report.ranking, *report.snapshot.slices):
        writer.writerows([csv_cell(cell) for cell in row] for row in _rows(run))
    return buffer.getvalue()


def _rows(run: RunFigures) -> Iterator[tuple[Cell, ...]]:
    head = (
        *(run.id, run.name, run.model, run.slice),
        *(run.truth_number, run.suite_version, run.n_cases, run.n_scored),
    )
    for key, value in run.metrics.items():
        yield (*head, key, None, None, *_value(value))
    for figures in run.classes:
        for key, value in figures.values.items():
            yield (*head, key, figures.label, figures.support, *_value(value))


def _value(value: MetricValue) -> tuple[Cell, ...]:
    return value.value, value.reason, value.ci_low, value.ci_high, value.ci_method
