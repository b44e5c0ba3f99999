"""Metric values as stored in rows, read back as values of the domain."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, select

from offdiag.domain.values import MetricValue
from offdiag.store.models import MetricValueRow

VALUE_COLUMNS = (
    MetricValueRow.evaluation_id,
    MetricValueRow.key,
    MetricValueRow.class_index,
    MetricValueRow.value,
    MetricValueRow.reason,
    MetricValueRow.tends_to,
    MetricValueRow.ci_low,
    MetricValueRow.ci_high,
    MetricValueRow.ci_method,
)


def select_values() -> Select[*tuple[Any, ...]]:
    """All columns of a value, to be narrowed by the caller."""
    return select(*VALUE_COLUMNS)


def recorded_value(row: Row[*tuple[Any, ...]]) -> MetricValue:
    """The value in a row made by `select_values`."""
    return MetricValue(row.value, row.reason, row.tends_to, row.ci_low, row.ci_high, row.ci_method)
