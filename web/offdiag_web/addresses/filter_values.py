"""What may follow the colon in a term of the filter line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Comparison,
    MetricField,
    Operator,
)
from offdiag.filters.fields import CLASS_METRICS, WHOLE_METRICS

SHORT_METRICS = {
    "acc": "overall_accuracy",
    "bal": "balanced_accuracy",
    "mcc": "mcc",
    "f1": "macro_f1",
}
"""Metrics of a run that have a short name in the filter line; all others go by their key."""

_COMPARED = re.compile(r"(>=|<=|!=|=|>|<)(.+)", re.DOTALL)
_AGO = re.compile(r"(\d{1,6})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Unclear(Exception):
    """A value cannot be meant; the text says what could."""


def metric_comparison(name: str, class_label: str | None, value: str) -> Comparison:
    """`acc:>0.8` or `recall(df):<0.5`. Raises `Unclear`."""
    key = SHORT_METRICS.get(name, name)
    if class_label is not None:
        key = name
        if key not in CLASS_METRICS:
            raise Unclear(f"of one class there are {', '.join(CLASS_METRICS)}")
    elif key not in WHOLE_METRICS:
        raise Unclear(f"it is of one class: {name}(class):>0.8")
    compared = _COMPARED.fullmatch(value)
    shown = name if class_label is None else f"{name}({class_label})"
    if compared is None:
        raise Unclear(f"compare it with a number, as in {shown}:>0.8")
    operator, text = compared.groups()
    try:
        number = float(text)
    except ValueError:
        raise Unclear(f"{text} is no number") from None
    # Anything beyond these is no number that a metric could be compared with.
    if not -1e300 < number < 1e300:
        raise Unclear(f"{text} is no number that a metric can have")
    return Comparison(MetricField(key, class_label), Operator(operator), (number,))


def is_metric(name: str) -> bool:
    """Whether a key in front of a colon names a metric of a run or of a class."""
    return name in SHORT_METRICS or name in WHOLE_METRICS or name in CLASS_METRICS


def logged_since(value: str, now: datetime) -> Comparison:
    """Runs logged at this time or later. Raises `Unclear`."""
    return Comparison(_LOGGED, Operator.AT_LEAST, (_moment(value, now),))


def logged_before(value: str, now: datetime) -> Comparison:
    """Runs logged before this time. Raises `Unclear`."""
    return Comparison(_LOGGED, Operator.LESS, (_moment(value, now),))


_LOGGED = AttributeField(Attribute.CREATED_AT)


def _moment(value: str, now: datetime) -> datetime:
    ago = _AGO.fullmatch(value)
    try:
        if ago is not None:
            number, unit = ago.groups()
            return now - timedelta(hours=int(number) * _HOURS[unit])
        moment = datetime.fromisoformat(value)
        # A date, or a time whose zone nobody wrote, is meant in UTC, in which times are shown.
        if moment.utcoffset() is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unclear("a time is 12h, 30d, 2w or a date such as 2026-11-20") from None
