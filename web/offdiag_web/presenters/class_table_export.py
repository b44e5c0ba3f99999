"""Every value of every class for machines, in full precision."""

from __future__ import annotations

from offdiag.domain.values import MetricValue
from offdiag.store.run_page import RunResults
from offdiag_web.addresses.classes import ClassesAddress
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.class_table import COUNTS, sorted_codes


def class_records(results: RunResults) -> dict[str, object]:
    """Every value of every class for the JSON twin, in label order."""
    return {
        "labels": list(results.counted.labels.names),
        "per_class": {
            key: [value.to_dict() for value in values] for key, values in results.per_class.items()
        },
    }


def class_columns(results: RunResults) -> tuple[str, ...]:
    """Columns of the CSV twin: a value, and bounds where the key has intervals."""
    columns = ["label"]
    for key, values in results.per_class.items():
        columns.append(key)
        if _has_interval(values):
            columns += [f"{key}_ci_low", f"{key}_ci_high"]
    return tuple(columns)


def class_rows(results: RunResults, address: ClassesAddress) -> list[tuple[Cell, ...]]:
    """One row per class in the order of the page."""
    return [
        (results.counted.labels.names[code], *_export_cells(results, code))
        for code in sorted_codes(results, address)
    ]


def _export_cells(results: RunResults, code: int) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for key, values in results.per_class.items():
        value = values[code]
        is_count = key in COUNTS and value.value is not None
        cells.append(round(value.value or 0) if is_count else value.value)
        if _has_interval(values):
            cells += [value.ci_low, value.ci_high]
    return tuple(cells)


def _has_interval(values: tuple[MetricValue, ...]) -> bool:
    return any(value.ci_method is not None for value in values)
