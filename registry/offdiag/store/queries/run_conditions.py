"""Conditions on runs as SQL: fields from a closed list, every value a bound parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, not_, or_, select, true

from offdiag.filters.conditions import (
    AllOf,
    AnyOf,
    AttributeField,
    Comparison,
    Condition,
    MetricField,
    Not,
    Operand,
    Operator,
    ParamField,
    TagField,
)
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.json_entries import Document, entry_number, entry_text
from offdiag.store.queries.run_fields import attribute_value, current_value


def holds(condition: Condition, dialect: str) -> ColumnElement[bool]:
    """A condition as SQL over the run table; false, never NULL, where a value is missing."""
    match condition:
        case AllOf(conditions):
            return and_(true(), *(holds(each, dialect) for each in conditions))
        case AnyOf(conditions):
            return or_(false(), *(holds(each, dialect) for each in conditions))
        case Not(inner):
            return not_(holds(inner, dialect))
        case Comparison():
            return func.coalesce(_comparison(condition, dialect), false())
        case _:
            assert_never(condition)


def required(condition: Condition, dialect: str) -> ColumnElement[bool]:
    """The same where it must hold by itself, and NULL will do for false.

    What is compared stands alone there, so that an index of it can be used.
    """
    if isinstance(condition, Comparison):
        return _comparison(condition, dialect)
    return holds(condition, dialect)


def with_value(condition: Condition) -> Select[str] | None:
    """The ids of the runs that a bound of one metric leaves, along the index of the metric.

    None for any other condition: there is no such index.
    """
    if not isinstance(condition, Comparison) or condition.operator not in _IN_ORDER:
        return None
    field = condition.field
    if not isinstance(field, MetricField) or field.class_label is not None:
        return None
    return (
        select(EvaluationRow.run_id)
        .select_from(MetricValueRow)
        .join(EvaluationRow, EvaluationRow.id == MetricValueRow.evaluation_id)
        .where(
            MetricValueRow.key == field.key,
            MetricValueRow.class_index == AGGREGATE,
            _compared(MetricValueRow.value.expression, condition),
            counts_for_its_run(),
        )
    )


def _comparison(comparison: Comparison, dialect: str) -> ColumnElement[bool]:
    match comparison.field:
        case MetricField() as field:
            value = _compared(MetricValueRow.value.expression, comparison)
            return exists(current_value(field, dialect).where(value).correlate(RunRow))
        case ParamField(name):
            return _entry(RunRow.params, name, comparison, dialect)
        case TagField(name):
            return _entry(RunRow.tags, name, comparison, dialect)
        case AttributeField(attribute):
            return _compared(attribute_value(attribute), comparison)
        case _:
            assert_never(comparison.field)


def _entry(
    document: Document, name: str, comparison: Comparison, dialect: str
) -> ColumnElement[bool]:
    """Numbers are compared with numbers, texts with the value as text."""
    numbers = tuple(each for each in comparison.operands if _is_number(each))
    texts = tuple(_as_text(each) for each in comparison.operands if not _is_number(each))
    parts: list[ColumnElement[bool]] = []
    if numbers:
        number = entry_number(document, name, dialect)
        parts.append(_compared(number, Comparison(comparison.field, comparison.operator, numbers)))
    if texts:
        text = entry_text(document, name, dialect)
        parts.append(_compared(text, Comparison(comparison.field, comparison.operator, texts)))
    return or_(*(func.coalesce(part, false()) for part in parts))


def _is_number(operand: Operand) -> bool:
    return isinstance(operand, int | float) and not isinstance(operand, bool)


def _as_text(operand: Operand) -> str:
    if isinstance(operand, bool):
        return "true" if operand else "false"
    return operand.isoformat() if isinstance(operand, datetime) else str(operand)


def _compared(value: ColumnElement[Any], comparison: Comparison) -> ColumnElement[bool]:
    if comparison.operator is Operator.IN:
        return value.in_(comparison.operands)
    return _OPERATORS[comparison.operator](value, comparison.operand)


def _like(value: ColumnElement[Any], operand: Any) -> ColumnElement[bool]:
    # A backslash stands for itself, as in any other text that people compare.
    return value.ilike(str(operand).replace("\\", "\\\\"), escape="\\")


_IN_ORDER = frozenset(
    {Operator.GREATER, Operator.AT_LEAST, Operator.LESS, Operator.AT_MOST, Operator.EQUAL}
)
"""What leaves a stretch of an index."""
_OPERATORS: Mapping[Operator, Callable[[ColumnElement[Any], Any], ColumnElement[bool]]] = {
    Operator.EQUAL: lambda value, operand: value == operand,
    Operator.UNEQUAL: lambda value, operand: value != operand,
    Operator.GREATER: lambda value, operand: value > operand,
    Operator.AT_LEAST: lambda value, operand: value >= operand,
    Operator.LESS: lambda value, operand: value < operand,
    Operator.AT_MOST: lambda value, operand: value <= operand,
    Operator.LIKE: _like,
}
