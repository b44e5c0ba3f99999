"""What can be asked for: `metrics.mcc`, `metrics.recall[df]`, `params.lr`, `attributes.name`."""

from __future__ import annotations

from difflib import get_close_matches

from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Field,
    MetricField,
    ParamField,
    TagField,
)
from offdiag.filters.reader import Reader
from offdiag.filters.tokens import Kind
from offdiag.metrics.catalogue import CATALOGUE, Scope

GROUPS = ("metrics", "params", "tags", "attributes")
CLASS_METRICS = ("recall", "precision", "f1", "support")
"""The metrics of a class that are kept as single rows, and so can be searched by."""

WHOLE_METRICS = frozenset(
    key
    for scope in (Scope.AGGREGATE, Scope.MULTILABEL, Scope.PROBABILISTIC, Scope.COST)
    for key in CATALOGUE[scope]
)
"""The metrics of a run as a whole."""


def read_field(reader: Reader) -> Field:
    """The field at the place of the reader, which moves on. Raises `Malformed`."""
    group = reader.token
    if group.kind is not Kind.NAME or group.text.lower() not in GROUPS:
        raise reader.unexpected("one of metrics. params. tags. attributes.")
    reader.take()
    reader.require_mark(".")
    match group.text.lower():
        case "metrics":
            return _metric(reader)
        case "params":
            return ParamField(_name(reader))
        case "tags":
            return TagField(_name(reader))
        case _:
            return _attribute(reader)


def _name(reader: Reader) -> str:
    """A name as it is, or in quotes; names may have dots inside."""
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
            f"there is no attribute {word!r}", hint=f"Attributes are {', '.join(Attribute)}."
        )
    reader.take()
    return AttributeField(Attribute(word))


def _metric(reader: Reader) -> MetricField:
    key = _part(reader)
    of_class = reader.takes_mark("[")
    known = CLASS_METRICS if of_class else WHOLE_METRICS
    if key not in known:
        raise reader.error(_unknown(key, of_class=of_class), hint=_way_out(key, of_class=of_class))
    if not of_class:
        return MetricField(key)
    label = _label(reader)
    reader.require_mark("]")
    return MetricField(key, label)


def _label(reader: Reader) -> str:
    """The name of a class: in quotes, or as it is where it is a word or a number."""
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
    if key in CLASS_METRICS:
        return f"Name the class: metrics.{key}[…]; or take an average, such as macro_{key}."
    similar = get_close_matches(key, sorted(WHOLE_METRICS), n=3)
    return f"Similar are {', '.join(similar)}." if similar else "The metrics are in docs/metrics."
