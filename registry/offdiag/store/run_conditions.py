"""Translating conditions on runs to SQL: a closed list of fields, every value a bound parameter.

Single entries of the JSON documents of a run are read the same way on both databases.

A path into a document would need quoting rules that differ between databases. PostgreSQL has an
operator that accepts any key as it is, and on SQLite rows of (key, value) are compared with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeGuard, assert_never

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Integer,
    Numeric,
    Select,
    TableValuedAlias,
    Text,
    and_,
    case,
    cast,
    collate,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute, aliased

from offdiag.domain.runs import METHOD
from offdiag.filters.conditions import (
    AllOf,
    AnyOf,
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    Field,
    MetricField,
    Not,
    Operand,
    Operator,
    ParamField,
    Side,
    TagField,
    compare_metric,
)
from offdiag.flags.lifecycle import FlagState
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.flag_conditions import may_hide_minority
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE

Document = InstrumentedAttribute[dict[str, Any]]

_SQLITE_WORDS = {word: word for word in ("true", "false", "null")}


def entry_text(document: Document, name: str, dialect: str) -> ColumnElement[str]:
    """The entry `name` as text; NULL if there is none."""
    if dialect == "postgresql":
        is_null = case((func.jsonb_typeof(_at(document, name)) == "null", "null"))
        # With the collation of text columns, independent of the kind of database and its language.
        return collate(func.coalesce(_at(document, name, as_text=True), is_null), "C")
    entry = func.json_each(document).table_valued("key", "value", "type", name="entry")
    text = case(_SQLITE_WORDS, value=entry.c.type, else_=cast(entry.c.value, Text))
    return _of(entry, text, name, document)


NULL = "null"
"""A tag without a value, such as from `seed=None`, which counts as missing."""


def method_of(tags: Document, dialect: str) -> ColumnElement[str]:
    """The method that the tags of a run name; NULL if they name none."""
    return func.nullif(entry_text(tags, METHOD, dialect), NULL)


def _pattern_text(document: Document, name: str, dialect: str) -> ColumnElement[str]:
    """The entry `name` as the text that patterns match; NULL if there is none.

    Decimals are written alike on both databases: 5e-05, and 1e20 with all its digits.
    """
    if dialect == "postgresql":
        number = entry_number(document, name, dialect)
        is_tiny = and_(func.abs(number) < _FIRST_WITHOUT_EXPONENT, number != 0)
        text = entry_text(document, name, dialect)
        # Large floats are stored with a fraction, by which they are known from whole numbers.
        is_large = func.abs(number) >= _FIRST_WITH_EXPONENT
        return collate(
            case(
                (is_tiny, cast(number, Text)),
                (is_large, func.regexp_replace(text, r"\.0$", "")),
                else_=text,
            ),
            "C",
        )
    entry = func.json_each(document).table_valued("key", "value", "type", name="entry")
    words = {**_SQLITE_WORDS, "real": func.decimal_text(entry.c.value)}
    text = case(words, value=entry.c.type, else_=cast(entry.c.value, Text))
    return _of(entry, text, name, document)


def entry_number(
    document: Document, name: str, dialect: str, *, exact: bool = False
) -> ColumnElement[float]:
    """The entry `name` if it is a number; NULL if it is not, or is missing.

    It is a float, or with `exact` a whole number of 64 bits as it was logged.
    """
    if dialect == "postgresql":
        is_number = func.jsonb_typeof(_at(document, name)) == "number"
        text = _at(document, name, as_text=True)
        number = cast(text, Numeric(asdecimal=False)) if exact else cast(text, Double)
        return case((is_number, number))
    entry = func.json_each(document).table_valued("key", "value", "type", name="entry")
    is_number = entry.c.type.in_(("integer", "real"))
    value = entry.c.value if exact else cast(entry.c.value, Double)
    return _of(entry, case((is_number, value)), name, document)


def place_of(
    names: InstrumentedAttribute[list[str]], name: str, dialect: str
) -> ColumnElement[int]:
    """The position of a name in a list of names, counted from 0; NULL if it is not in it."""
    if dialect == "postgresql":
        entry = func.jsonb_array_elements_text(names).table_valued(
            "value", with_ordinality="ordinality", name="entry"
        )
        place = cast(entry.c.ordinality, Integer) - 1
    else:
        entry = func.json_each(names).table_valued("key", "value", name="entry")
        place = cast(entry.c.key, Integer)
    found = select(place).select_from(entry).where(entry.c.value == name)
    return found.correlate(names.class_).scalar_subquery()


def _at(document: Document, name: str, *, as_text: bool = False) -> ColumnElement[Any]:
    # The operator accepts a name as it is, which is not a path and needs no quoting.
    operator, kind = ("->>", Text()) if as_text else ("->", JSONB())
    return document.expression.op(operator, return_type=kind)(literal(name, Text))


def _of(
    entry: TableValuedAlias, value: ColumnElement[Any], name: str, document: Document
) -> ColumnElement[Any]:
    found = select(value).select_from(entry).where(entry.c.key == name)
    return found.correlate(document.class_).scalar_subquery()


def current_value(field: MetricField, dialect: str) -> Select[Any]:
    """The stored value of a metric of the run's current evaluation of all its samples."""
    # Queried in this order on purpose: SQLite would otherwise search all values of the metric for
    # the one of this run, again for each run.
    evaluation = (
        select(EvaluationRow.id)
        .where(EvaluationRow.run_id == RunRow.id, counts_for_its_run())
        .correlate(RunRow)
        .scalar_subquery()
    )
    found = select(value_column(field)).where(
        MetricValueRow.evaluation_id == evaluation, MetricValueRow.key == field.key
    )
    if field.class_label is None:
        return found.where(MetricValueRow.class_index == AGGREGATE)
    return found.where(MetricValueRow.class_index == _class_index(field.class_label, dialect))


def value_column(field: MetricField) -> ColumnElement[float | None]:
    """The value of a metric, or an end of its interval."""
    column = {Side.LOW: MetricValueRow.ci_low, Side.HIGH: MetricValueRow.ci_high}.get(
        field.side, MetricValueRow.value
    )
    return column.expression


def attribute_value(attribute: Attribute) -> ColumnElement[Any]:
    """The value of an attribute of a run; NULL if this run has none."""
    match attribute:
        case Attribute.PROJECT:
            return _single(select(ProjectRow.name).where(ProjectRow.id == RunRow.project_id))
        case Attribute.DATASET:
            return _single(select(DatasetRow.name).where(DatasetRow.id == RunRow.dataset_id))
        case Attribute.TRUTH_VERSION:
            is_named = TruthVersionRow.id == RunRow.truth_version_id
            # As large as numbers in filters, which PostgreSQL would refuse for a smaller type.
            number = type_coerce(TruthVersionRow.number, BigInteger)
            return _single(select(number).where(is_named))
        case Attribute.OPEN_FLAGS:
            is_open = (FlagRow.run_id == RunRow.id) & (FlagRow.state == FlagState.OPEN)
            n_flags = func.count(type_=BigInteger)
            return _single(select(n_flags).select_from(FlagRow).where(is_open))
        case Attribute.BADGE | Attribute.MAY_HIDE | Attribute.LOWEST_RECALL:
            evaluation = aliased(EvaluationRow)
            value: ColumnElement[Any]
            if attribute is Attribute.BADGE:
                value = evaluation.hides_minority.expression
            elif attribute is Attribute.MAY_HIDE:
                value = may_hide_minority(evaluation)
            else:
                value = evaluation.lowest_recall.expression
            is_own = evaluation.run_id == RunRow.id
            return _single(select(value).where(is_own, counts_for_its_run(evaluation)))
        case _:
            return _COLUMNS[attribute]


def sorted_by(field: Field, dialect: str) -> tuple[ColumnElement[Any], ...]:
    """What to sort by, in order; for params and tags first the numbers, then the texts."""
    match field:
        case MetricField():
            return (_single(current_value(field, dialect)),)
        case ParamField(name):
            return _numbers_then_texts(RunRow.params, name, dialect)
        case TagField(name):
            return _numbers_then_texts(RunRow.tags, name, dialect)
        case AttributeField(attribute):
            return (attribute_value(attribute),)
        case _:
            assert_never(field)


_COLUMNS: dict[Attribute, ColumnElement[Any]] = {
    attribute: getattr(RunRow, attribute).expression
    for attribute in Attribute
    if attribute in RunRow.__table__.columns
}


def _class_index(label: str, dialect: str) -> ColumnElement[int]:
    """The position of a class in the label set of the run's dataset, counted from 0."""
    place = place_of(LabelSetRow.names, label, dialect)
    return _single(
        select(place)
        .select_from(DatasetRow)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(DatasetRow.id == RunRow.dataset_id)
    )


def _numbers_then_texts(
    document: Document, name: str, dialect: str
) -> tuple[ColumnElement[Any], ...]:
    number = entry_number(document, name, dialect)
    return number, case((number.is_(None), entry_text(document, name, dialect)))


def _single(statement: Select[Any]) -> ColumnElement[Any]:
    return statement.correlate(RunRow).scalar_subquery()


def holds(condition: Condition, dialect: str) -> ColumnElement[bool]:
    """A condition as SQL over the run table; false, never NULL, if a value is missing."""
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
    """The same for a condition that must hold by itself, so that NULL may stand for false.

    The compared expression is not wrapped, so that an index on it can be used.
    """
    if isinstance(condition, Comparison):
        return _comparison(condition, dialect)
    return holds(condition, dialect)


def with_value(condition: Condition) -> Select[str] | None:
    """The ids of the runs that satisfy a bound on one metric, along the index of the metric.

    None for any other condition, which has no such index.
    """
    if not isinstance(condition, Comparison) or condition.operator not in _IN_ORDER:
        return None
    field = condition.field
    if not isinstance(field, MetricField) or field.class_label is not None:
        return None
    if field.side is not Side.VALUE:
        return None
    return (
        select(EvaluationRow.run_id)
        .select_from(MetricValueRow)
        .join(EvaluationRow, EvaluationRow.id == MetricValueRow.evaluation_id)
        .where(
            MetricValueRow.key == field.key,
            MetricValueRow.class_index == AGGREGATE,
            compare_metric(MetricValueRow.value.expression, condition),
            counts_for_its_run(),
        )
    )


def _comparison(comparison: Comparison, dialect: str) -> ColumnElement[bool]:
    match comparison.field:
        case MetricField() as field:
            value = compare_metric(value_column(field), comparison)
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
    """Compare an entry: numbers as numbers, even in quotes, and less than all other texts.

    True and false are equal to their words in any case: Python and MLflow write "True". The text
    of a number differs between databases: 5e-05 is 5.0e-05 in one and 0.00005 in another.
    """
    if comparison.operator is Operator.LIKE:
        return _compared(_pattern_text(document, name, dialect), comparison)
    text = entry_text(document, name, dialect)
    equals = Operator.EQUAL if comparison.operator is Operator.IN else comparison.operator
    compare = _OPERATORS[equals]
    found = entry_number(document, name, dialect).is_not(None)
    parts: list[ColumnElement[bool]] = []
    for operand in comparison.operands:
        number = _as_number(operand)
        if number is None:
            with_numbers: ColumnElement[bool] = true() if equals in _TRUE_OF_NUMBERS else false()
        else:
            with_numbers = compare(_entry_for(number, document, name, dialect), number)
        with_texts = false() if _is_number(operand) else _with_text(text, equals, operand)
        parts.append(func.coalesce(case((found, with_numbers), else_=with_texts), false()))
    return or_(*parts)


def _with_text(
    text: ColumnElement[str], operator: Operator, operand: Operand
) -> ColumnElement[bool]:
    wanted = _as_text(operand)
    if wanted.lower() in _TRUTH_VALUES and operator in {Operator.EQUAL, Operator.UNEQUAL}:
        text, wanted = func.lower(text), wanted.lower()
    return _OPERATORS[operator](text, wanted)


def _entry_for(number: float, document: Document, name: str, dialect: str) -> ColumnElement[float]:
    """The entry `name` if it is a number, exact if the operand is an integer beyond floats."""
    is_exact = isinstance(number, int) and abs(number) >= _FIRST_INEXACT
    return entry_number(document, name, dialect, exact=is_exact)


def _is_number(operand: Operand) -> TypeGuard[float]:
    return isinstance(operand, int | float) and not isinstance(operand, bool)


def _as_number(operand: Operand) -> float | None:
    if not isinstance(operand, str):
        return operand if _is_number(operand) else None
    if _NUMBER.fullmatch(operand) is None:
        return None
    number = int(operand) if operand.lstrip("-").isdigit() else float(operand)
    if isinstance(number, int) and abs(number) > _LARGEST_INTEGER:
        return float(operand)
    return number if math.isfinite(number) else None


def _as_text(operand: Operand) -> str:
    if isinstance(operand, bool):
        return "true" if operand else "false"
    return operand.isoformat() if isinstance(operand, datetime) else str(operand)


def _compared(value: ColumnElement[Any], comparison: Comparison) -> ColumnElement[bool]:
    if comparison.operator is Operator.IN:
        return value.in_(comparison.operands)
    return _OPERATORS[comparison.operator](value, comparison.operand)


def _like(value: ColumnElement[Any], operand: Any) -> ColumnElement[bool]:
    # A backslash stands for itself, as in any other text comparison.
    return value.ilike(str(operand).replace("\\", "\\\\"), escape="\\")


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,9})?")
_TRUTH_VALUES = ("true", "false")
_FIRST_INEXACT = 2**53
_FIRST_WITHOUT_EXPONENT, _FIRST_WITH_EXPONENT = 1e-4, 1e16
"""Python writes decimals with an exponent below the former, and from the latter on."""
_LARGEST_INTEGER = 2**63 - 1
_TRUE_OF_NUMBERS = frozenset({Operator.UNEQUAL, Operator.LESS, Operator.AT_MOST})
"""Operators that hold between any number and any text that is not a number."""
_IN_ORDER = frozenset(
    {Operator.GREATER, Operator.AT_LEAST, Operator.LESS, Operator.AT_MOST, Operator.EQUAL}
)
"""Operators that select a contiguous range of an index."""
_OPERATORS: Mapping[Operator, Callable[[ColumnElement[Any], Any], ColumnElement[bool]]] = {
    Operator.EQUAL: lambda value, operand: value == operand,
    Operator.UNEQUAL: lambda value, operand: value != operand,
    Operator.GREATER: lambda value, operand: value > operand,
    Operator.AT_LEAST: lambda value, operand: value >= operand,
    Operator.LESS: lambda value, operand: value < operand,
    Operator.AT_MOST: lambda value, operand: value <= operand,
    Operator.LIKE: _like,
}
