"""Numbers in a filter that its metrics cannot have, such as 80 for an accuracy of 80 %."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.filters.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    MetricField,
    Not,
    Over,
)
from offdiag.metrics.metric_text import in_range_hint, range_of_metric


def out_of_range(condition: Condition) -> tuple[str, ...]:
    """A sentence for each number that all runs with the metric compare with alike.

    Of several metrics of one range, as a name may mean, the first is named.
    """
    found: dict[tuple[float, float, float], str] = {}
    for field, number in _compared(condition):
        low, high = _range(field)
        if not low <= number <= high:
            found.setdefault(
                (low, high, number),
                f"{field} is in the range {low:g} to {high:g}, so comparing it with {number:g} "
                f"does not depend on the run. {in_range_hint(number, low, high)}",
            )
    return tuple(found.values())


def _compared(condition: Condition) -> Iterator[tuple[MetricField, float]]:
    match condition:
        case AllOf(conditions) | AnyOf(conditions):
            for each in conditions:
                yield from _compared(each)
        case Not(inner):
            yield from _compared(inner)
        case Comparison(field=MetricField() as field, operands=operands):
            yield from ((field, each) for each in operands if isinstance(each, int | float))


def _range(field: MetricField) -> tuple[float, float]:
    low, high = range_of_metric(field.key, field.class_label)
    return (0.0, high - low) if field.over is Over.GAP else (low, high)
