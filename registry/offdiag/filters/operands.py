"""Values in the form that their field has."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from offdiag.domain.runs import RunState
from offdiag.filters.conditions import (
    NUMBERS,
    TIMES,
    YES_OR_NO,
    Attribute,
    AttributeField,
    Field,
    MetricField,
    Operand,
    Operator,
    ParamField,
    TagField,
)
from offdiag.filters.reader import Reader

_LARGEST = 2**63 - 1
_EQUALITIES = frozenset({Operator.EQUAL, Operator.UNEQUAL, Operator.IN})


def fitting(
    written: str | float | bool, field: Field, operator: Operator, reader: Reader
) -> Operand:
    """A value as its field has it; a time stays a time. Raises `Malformed`."""
    if isinstance(written, float) and not math.isfinite(written):
        raise reader.error("the number is too large")
    if isinstance(written, int) and abs(written) > _LARGEST:
        raise reader.error("the whole number is too large")
    if isinstance(written, str) and "\0" in written:
        raise reader.error("a text cannot hold the character NUL")
    if operator is Operator.LIKE and not isinstance(written, str):
        raise reader.error("`like` needs a text in quotes", hint="% stands for any characters.")
    match field:
        case MetricField():
            return _number(written, operator, "a metric", reader)
        case ParamField() | TagField():
            return _free(written, operator, reader)
        case AttributeField(attribute):
            return _of_attribute(written, attribute, operator, reader)


def _free(written: str | float | bool, operator: Operator, reader: Reader) -> Operand:
    if isinstance(written, bool) and operator not in _EQUALITIES:
        raise reader.error("true and false can only be equal or not")
    return written


def _of_attribute(
    written: str | float | bool, attribute: Attribute, operator: Operator, reader: Reader
) -> Operand:
    if attribute in NUMBERS:
        return _number(written, operator, attribute.value, reader)
    if attribute in TIMES:
        return _time(written, operator, reader)
    if attribute in YES_OR_NO:
        if not isinstance(written, bool) or operator not in _EQUALITIES:
            raise reader.error(f"{attribute.value} is compared with = true or = false")
        return written
    if not isinstance(written, str):
        raise reader.error(f"{attribute.value} is compared with a text in quotes")
    if attribute is Attribute.STATE and operator in _EQUALITIES and written not in set(RunState):
        raise reader.error(
            f"there is no state {written!r}", hint=f"States are {', '.join(RunState)}."
        )
    return written


def _number(
    written: str | float | bool, operator: Operator, what: str, reader: Reader
) -> int | float:
    if operator is Operator.LIKE or isinstance(written, str | bool):
        raise reader.error(f"{what} is compared with a number")
    return written


def _time(written: str | float | bool, operator: Operator, reader: Reader) -> datetime:
    hint = "Write a date, '2026-11-20', or a time with its zone, '2026-11-20T08:00+01:00'."
    if operator is Operator.LIKE or not isinstance(written, str):
        raise reader.error("a time is compared with a text in quotes", hint=hint)
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise reader.error(f"{written[:40]!r} is no time", hint=hint) from None
    is_date = len(written) <= len("2026-11-20")
    if moment.utcoffset() is None and not is_date:
        raise reader.error(f"{written!r} has no time zone", hint=hint)
    try:
        return moment.replace(tzinfo=UTC) if is_date else moment.astimezone(UTC)
    except OverflowError:
        raise reader.error(f"{written!r} is out of range", hint=hint) from None
