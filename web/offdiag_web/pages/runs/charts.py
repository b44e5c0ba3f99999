"""The runs of a list as pictures: over time, and across parallel axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.svg import spanning
from offdiag_web.components import numbers
from offdiag_web.components.model_marks import NO_MODEL, ModelMark
from offdiag_web.components.numbers import extent_of
from offdiag_web.components.run_rows import column_scale, metric_column
from offdiag_web.pages.runs.columns import Columns, differing_params
from offdiag_web.pages.runs.parallel_chart import ParallelAxis, ParallelLine, parallel_chart
from offdiag_web.pages.runs.time_chart import TimePoint, time_chart

MOST_CHARTED = 200
MOST_PARAMS = 4
MOST_VALUES = 12
"""A parameter of words with more values than these has no axis."""
Marks = Mapping[str | None, ModelMark]


def trend_picture(entries: Sequence[RunEntry], scope: DatasetFacts, marks: Marks) -> Markup | None:
    """The primary metric over time; None where no run has it."""
    column = metric_column(primary_metric(scope))
    points = []
    for entry in entries:
        value = entry.metrics.get(column.key)
        extent = None if value is None else extent_of(value)
        if extent is not None:
            day = f"{entry.created_at.day} {entry.created_at:%b %Y}"
            text = f"{entry.name}, {day}: {numbers.metric(extent.estimate)}"
            points.append(
                TimePoint(entry.created_at, extent, marks.get(entry.model, NO_MODEL), text)
            )
    if not points:
        return None
    scale = column_scale(column, entries, "fit")
    name = f"{column.title} of {numbers.plural(len(points), 'run')} over time"
    return time_chart(points, scale=scale, metric=column.title, name=name)


def parallel_picture(entries: Sequence[RunEntry], columns: Columns, marks: Marks) -> Markup | None:
    """Parameters and metrics of evaluated runs; None where there are fewer than two axes."""
    evaluated = [entry for entry in entries if entry.metrics]
    params = columns.params if len(columns.params) > 2 else ()
    axes: list[ParallelAxis] = []
    places: list[list[float | None]] = []
    for name in params or differing_params(evaluated, most=MOST_PARAMS):
        found = _param_axis(name, [entry.params.get(name) for entry in evaluated])
        if found is not None:
            axes.append(found[0])
            places.append(found[1])
    for column, scale in columns.metrics:
        values = [_value(entry.metrics.get(column.key)) for entry in evaluated]
        axes.append(ParallelAxis(column.title, _ends(scale.ends)))
        places.append([None if each is None else scale.clamped(each) for each in values])
    if columns.worst is not None:
        recalls = [
            None if each.worst_class is None else _value(each.worst_class.recall)
            for each in evaluated
        ]
        axes.append(ParallelAxis("Worst class", _ends(("0", "1"))))
        places.append(recalls)
    if len(axes) < 2 or not evaluated:
        return None
    lines = [
        ParallelLine(
            entry.id,
            entry.name,
            marks.get(entry.model, NO_MODEL),
            tuple(of_axis[place] for of_axis in places),
        )
        for place, entry in enumerate(evaluated)
    ]
    titles = numbers.listed([axis.title for axis in axes], at_most=10)
    return parallel_chart(axes, lines, name=f"{numbers.plural(len(lines), 'run')} across {titles}")


def _value(value: MetricValue | None) -> float | None:
    return None if value is None else value.value


def _ends(ends: tuple[str, str]) -> tuple[tuple[str, float], ...]:
    return ((ends[0], 0.0), (ends[1], 1.0))


def _param_axis(
    name: str, values: Sequence[object]
) -> tuple[ParallelAxis, list[float | None]] | None:
    """An axis of numbers where all values are, else one of words at even distances."""
    title = numbers.shortened(name, longest=18)
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        amounts = [float(value) for value in known if isinstance(value, int | float)]
        scale = spanning(amounts)
        if scale.low < 0 <= min(amounts):
            scale = type(scale)(Decimal(0), scale.high)
        return ParallelAxis(title, _ends(scale.ends)), [
            scale.clamped(float(value)) if isinstance(value, int | float) else None
            for value in values
        ]
    words = sorted({str(value) for value in known})
    if len(words) > MOST_VALUES:
        return None
    steps = {word: (place + 0.5) / len(words) for place, word in enumerate(words)}
    ticks = tuple((numbers.shortened(word, longest=14), at) for word, at in steps.items())
    return ParallelAxis(title, ticks), [
        None if value is None else steps[str(value)] for value in values
    ]
