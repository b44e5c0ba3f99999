"""The fields of a filter, such as `metrics.mcc`, and conversion of values to a field's type."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from offdiag.domain.runs import RunState
from offdiag.domain.sentences import known_names
from offdiag.domain.slices import parse_slice
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
    Over,
    ParamField,
    Side,
    TagField,
)
from offdiag.filters.tokens import Kind, Reader
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.names import averages_of, find_spec, meanings, nearest_names

GROUPS = ("metrics", "params", "tags", "attributes")
CLASS_METRICS = ("recall", "precision", "f1", "support")
"""The metrics of a class that are stored as single rows, and so can be searched by."""

WHOLE_METRICS = frozenset(
    key
    for scope in (Scope.AGGREGATE, Scope.MULTILABEL, Scope.PROBABILISTIC, Scope.COST)
    for key in CATALOGUE[scope]
)
"""The metrics of a run as a whole."""


@dataclass(frozen=True, slots=True)
class RequestedField:
    """A field named in a filter; a name of scikit-learn may stand for one of several fields.

    Which of `fields` is meant depends on the run: `n_classes_is_two` says for which numbers of
    classes, None if a run has only one of them. Values are negated if `is_negated`.
    """

    fields: tuple[Field, ...]
    is_negated: bool = False
    n_classes_is_two: tuple[bool | None, ...] = (None,)


def read_field(reader: Reader) -> RequestedField:
    """Read the field at the position of the reader, and move on. Raises `Malformed`.

    A metric may be written as in conditions of gates and alerts: `low(recall[a]@site=z)`.
    """
    group = reader.token
    if group.kind is Kind.NAME and group.text in _OPENERS:
        return _applied(reader)
    if group.kind is Kind.NAME and is_metric_name(group.text):
        return _metric(reader)
    if group.kind is not Kind.NAME or group.text.lower() not in GROUPS:
        raise reader.unexpected("a metric or one of metrics. params. tags. attributes.")
    reader.take()
    reader.require_mark(".")
    match group.text.lower():
        case "metrics":
            return _metric(reader)
        case "params":
            return RequestedField((ParamField(_name(reader)),))
        case "tags":
            return RequestedField((TagField(_name(reader)),))
        case _:
            return RequestedField((_attribute(reader),))


_OPENERS = frozenset({Side.LOW.value, Side.HIGH.value, *Over})
"""What can be applied to a metric: an end of its interval, or all groups of a slice column."""


def is_metric_name(name: str) -> bool:
    """Whether a word names a metric of a run or of a class."""
    return bool(meanings(name, {*WHOLE_METRICS, *CLASS_METRICS}))


def _applied(reader: Reader) -> RequestedField:
    """Read `low(…)`, `high(…)`, `worst(…, by=…)` or `gap(…, by=…)`."""
    opener = reader.take().text
    reader.require_mark("(")
    if reader.token.kind is Kind.NAME and reader.token.text in _OPENERS:
        if opener in set(Over) or reader.token.text not in set(Over):
            raise reader.error(f"{reader.token.text} cannot be applied inside {opener}(…)")
        found = _applied(reader)
    else:
        if reader.token.is_word("metrics"):
            reader.take()
            reader.require_mark(".")
        found = _metric(reader)
    if opener in set(Over):
        by = reader.takes(Kind.BY)
        if by is None:
            raise reader.unexpected("`, by=` and a slice column")
        if any(each.part is not None for each in _metrics(found)):
            raise reader.error(f"a slice and by={by.text} cannot be combined")
        column = parse_slice(f"{by.text}=x").terms[0].name
        found = _changed(found, over=Over(opener), by=column)
    reader.require_mark(")")
    part = reader.takes(Kind.PART)
    if part is not None:
        if any(each.over or each.part for each in _metrics(found)):
            raise reader.error("one slice is enough")
        found = _changed(found, part=parse_slice(part.text))
    if opener in set(Over):
        return found
    side = Side(opener)
    return _changed(found, side=side.reversed if found.is_negated else side)


def _metrics(found: RequestedField) -> tuple[MetricField, ...]:
    return tuple(each for each in found.fields if isinstance(each, MetricField))


def _changed(found: RequestedField, **changes: Any) -> RequestedField:
    return replace(found, fields=tuple(replace(each, **changes) for each in _metrics(found)))


def _name(reader: Reader) -> str:
    """A name, bare or in quotes; names may contain dots."""
    parts = [_part(reader)]
    while reader.takes_mark("."):
        parts.append(_part(reader))
    return ".".join(parts)


def _part(reader: Reader) -> str:
    token = reader.token
    if token.kind is Kind.TEXT:
        return reader.take().content
    if token.kind is Kind.NAME:
        return reader.take().text
    raise reader.unexpected("a name")


def _attribute(reader: Reader) -> AttributeField:
    word = reader.token.text
    if word not in set(Attribute):
        raise reader.error(
            f"there is no attribute {word!r}", hint=known_names("attributes", Attribute)
        )
    reader.take()
    return AttributeField(Attribute(word))


def _metric(reader: Reader) -> RequestedField:
    name = _part(reader)
    of_class = reader.takes_mark("[")
    found = meanings(name, CLASS_METRICS if of_class else WHOLE_METRICS)
    if not found:
        raise reader.error(
            _unknown(name, of_class=of_class), hint=_way_out(name, of_class=of_class)
        )
    label = _label(reader) if of_class else None
    if of_class:
        reader.require_mark("]")
    at = reader.takes(Kind.PART)
    part = None if at is None else parse_slice(at.text)
    return RequestedField(
        tuple(MetricField(each.key, label, part=part) for each in found),
        is_negated=found[0].is_negated,
        n_classes_is_two=tuple(each.n_classes_is_two for each in found),
    )


def _label(reader: Reader) -> str:
    """The name of a class: in quotes, or bare if it is a word or a number."""
    token = reader.token
    if token.kind is Kind.TEXT:
        return reader.take().content
    if token.kind in {Kind.NAME, Kind.NUMBER}:
        return reader.take().text
    raise reader.unexpected("the name of a class")


def _unknown(key: str, *, of_class: bool) -> str:
    if of_class:
        return f"runs cannot be searched by {key!r} of a class"
    return f"there is no metric {key!r} of a whole run"


def _way_out(key: str, *, of_class: bool) -> str:
    if of_class:
        return f"These can be used with a class: {', '.join(CLASS_METRICS)}."
    spec = find_spec(key)
    if spec is not None and spec.key in CLASS_METRICS:
        averages = averages_of(spec.key, WHOLE_METRICS)
        or_average = f"; or take an average: {', '.join(averages)}" if averages else ""
        return f"Name the class: metrics.{spec.key}[…]{or_average}."
    near = nearest_names(key, WHOLE_METRICS)
    if spec is not None and not near:
        return f"It is a metric of one class, and runs are searched by {', '.join(CLASS_METRICS)}."
    return near or "The catalogue of metrics lists all keys."


_LARGEST = 2**63 - 1
_EQUALITIES = frozenset({Operator.EQUAL, Operator.UNEQUAL, Operator.IN})


def fitting(
    written: str | float | bool, field: Field, operator: Operator, reader: Reader
) -> Operand:
    """A value converted to the type of its field; a time stays a time. Raises `Malformed`."""
    if isinstance(written, float) and not math.isfinite(written):
        raise reader.error("the number is too large")
    if isinstance(written, int) and abs(written) > _LARGEST:
        raise reader.error("the whole number is too large")
    if isinstance(written, str) and "\0" in written:
        raise reader.error("a text cannot hold the character NUL")
    if operator is Operator.LIKE and not isinstance(written, str):
        raise reader.error("`like` needs a text in quotes", hint="% matches any characters.")
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
        raise reader.error(f"there is no state {written!r}", hint=known_names("states", RunState))
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
        raise reader.error(f"{written[:40]!r} is not a time", hint=hint) from None
    day = _date(written)
    if day is not None:
        if operator in _EQUALITIES:
            raise reader.error(
                "a date is its first moment, at which hardly anything happens", hint=_within(day)
            )
        if operator is Operator.AT_MOST:
            raise reader.error(
                "a date is its first moment, so <= leaves out the day", hint=_until(day)
            )
        return moment.replace(tzinfo=UTC)
    if moment.utcoffset() is None:
        raise reader.error(f"{written!r} has no time zone", hint=hint)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise reader.error(f"{written!r} is out of range", hint=hint) from None


def _date(written: str) -> date | None:
    """The date that is written without a time."""
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def _until(day: date) -> str:
    """How to write the runs up to a day, with it or without."""
    without = f"Write < '{day}'"
    if day == date.max:
        return f"{without}."
    return f"{without}, or < '{day + timedelta(days=1)}' to include it."


def _within(day: date) -> str:
    """How to write the runs of a day."""
    of_day = f"Write the day as >= '{day}'"
    return f"{of_day}." if day == date.max else f"{of_day} and < '{day + timedelta(days=1)}'."
