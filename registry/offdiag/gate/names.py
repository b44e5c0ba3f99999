"""Finding the value a condition names, and saying what was meant where it names none."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.flags.audit.names import OTHER_NAMES, normal_form
from offdiag.gate.conditions import MetricCondition
from offdiag.gate.subject import MetricValues, Subject
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.costs.summary import COST_KEYS

_NO_SCORES = MetricValue(None, Reason.NO_SCORES.value)


def value_of(condition: MetricCondition, subject: Subject) -> MetricValue:
    """The value, with its interval if it has one, that a condition is about.

    Metrics of scores are undefined for a run without scores. Raises `UnknownKey` for a metric
    or class that does not exist, and `InvalidInput` where a class is missing or too much, or
    where a baseline or a cost matrix is needed and was not given.
    """
    if not condition.of_difference:
        return _find(condition, subject, subject.values)
    if subject.differences is None:
        raise InvalidInput(
            f"{condition.text!r} compares with a baseline, and there is none.",
            field="condition",
            hint="Name one with --baseline RUN.",
        )
    return _find(condition, subject, subject.differences.values)


def _find(condition: MetricCondition, subject: Subject, values: MetricValues) -> MetricValue:
    key, label = condition.key, condition.class_label
    if label is None:
        if key in values.aggregate:
            return values.aggregate[key]
        if key in COST_KEYS:
            return _cost(key, values)
        if key in values.per_class:
            raise _class_needed(key)
        if key in CATALOGUE[Scope.PROBABILISTIC]:
            return _NO_SCORES
    elif key in values.per_class:
        return values.per_class[key][class_code(label, subject)]
    elif key in values.aggregate or key in COST_KEYS:
        raise InvalidInput(
            f"{key!r} belongs to all classes together, not to class {label!r}.",
            field="condition",
            hint=f"Write {key!r} without a class, or use a metric of a class such as 'recall'.",
        )
    raise _unknown(key, label, values)


def _cost(key: str, values: MetricValues) -> MetricValue:
    if values.costs is None:
        raise InvalidInput(
            f"{key!r} needs to know what errors cost.",
            field="condition",
            hint="Give --weights FILE or --cost-matrix NAME.",
        )
    return values.costs[key]


def _class_needed(key: str) -> InvalidInput:
    return InvalidInput(
        f"{key!r} belongs to one class.",
        field="condition",
        hint=f"Write {key}[class], or use an average such as macro_{key}."
        if f"macro_{key}" in CATALOGUE[Scope.AGGREGATE]
        else f"Write {key}[class].",
    )


def class_code(label: str, subject: Subject) -> int:
    """Code of a class. Raises `UnknownKey` naming similar ones."""
    try:
        return subject.labels.index[label]
    except KeyError:
        raise UnknownKey(
            f"there is no class {label!r}.",
            field="condition",
            hint=_did_you_mean(get_close_matches(label, subject.labels.names, n=3, cutoff=0.5))
            or f"Classes are {subject.labels.preview()}.",
        ) from None


def _unknown(key: str, label: str | None, values: MetricValues) -> UnknownKey:
    known = [*values.per_class] if label is not None else [*values.aggregate, *COST_KEYS]
    elsewhere = OTHER_NAMES.get(normal_form(key))
    near = [elsewhere] if elsewhere in known else []
    near += get_close_matches(key, known, n=3, cutoff=0.6)
    of = " of a class" if label is not None else ""
    return UnknownKey(
        f"there is no metric {key!r}{of}.",
        field="condition",
        hint=_did_you_mean(near) or "The catalogue of metrics lists all keys.",
    )


def _did_you_mean(names: Iterable[str | None]) -> str:
    quoted = [repr(name) for name in dict.fromkeys(names)]
    return f"Did you mean {' or '.join(quoted)}?" if quoted else ""
