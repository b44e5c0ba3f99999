"""Charts of the list of runs: values over time, and parallel axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeGuard

from markupsafe import Markup, escape

from offdiag.domain.values import MetricValue
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list import RunOverview
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.svg import broken_line, coordinate, drawing, spanning, words
from offdiag_web.components import numbers
from offdiag_web.components.model_marks import NO_MODEL, ModelMark
from offdiag_web.components.model_trend import model_trend, trend_points
from offdiag_web.components.runs.rows import column_scale, metric_column
from offdiag_web.pages.runs.columns import Columns, differing_params
from offdiag_web.urls.run_list import ListForm

MOST_CHARTED = 200
MOST_PARAMS = 4
MOST_VALUES = 12
"""A text parameter with more distinct values has no axis."""
LARGEST_ON_AXIS = 1e300
"""Between numbers up to this size, the difference is finite too."""
Marks = Mapping[str | None, ModelMark]


def chart_of(
    form: ListForm,
    charted: Sequence[RunEntry],
    scope: DatasetFacts,
    columns: Columns,
    marks: Marks,
) -> Markup | None:
    """The chart for a form of the list; None if it has none."""
    if form == "parallel":
        return parallel_picture(charted, columns, marks)
    return None if form == "table" else trend_picture(charted, scope, marks)


def chart_note(overview: RunOverview, charted: Sequence[RunEntry]) -> str:
    """Which runs are drawn, if not all."""
    if overview.page.counts_all and overview.page.total <= len(charted):
        return ""
    return f"The newest {numbers.count(len(charted))} runs."


def trend_picture(entries: Sequence[RunEntry], scope: DatasetFacts, marks: Marks) -> Markup | None:
    """The primary metric over time; None if no run has it."""
    column = metric_column(primary_metric(scope))
    points = trend_points(
        ((entry, entry.metrics.get(column.key)) for entry in entries),
        lambda model: marks.get(model, NO_MODEL),
    )
    if not points:
        return None
    return model_trend(
        points,
        scale=column_scale(column, entries, "fit"),
        metric=column.title,
        name=f"{column.title} of {numbers.plural(len(points), 'run')} over time",
    )


def parallel_picture(entries: Sequence[RunEntry], columns: Columns, marks: Marks) -> Markup | None:
    """Parameters and metrics of evaluated runs; None if there are fewer than two axes."""
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
        axes.append(ParallelAxis(columns.worst_title, _ends(("0", "1"))))
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
    """A numeric axis if all values are numbers, else one of texts at equal distances."""
    title = numbers.shortened(name, longest=18)
    known = [value for value in values if value is not None]
    amounts = [float(value) for value in known if _fits_an_axis(value)]
    if len(amounts) == len(known):
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


def _fits_an_axis(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= LARGEST_ON_AXIS
    )


WIDTH, HEIGHT = 1180, 300
_SIDE, _TOP, _BOTTOM = 70, 40, 12


@dataclass(frozen=True, slots=True)
class ParallelAxis:
    """An axis with its tick labels, each at a share of its height."""

    title: str
    ticks: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ParallelLine:
    """A run with its position on each axis as a share in 0..1, None without a value."""

    run_id: str
    name: str
    model: ModelMark
    places: tuple[float | None, ...]


def parallel_chart(
    axes: Sequence[ParallelAxis], lines: Sequence[ParallelLine], *, name: str
) -> Markup:
    """Draw every line over all axes, with gaps for missing values.

    Axes have their position in `data-x`, lines their run and positions, for choosing ranges.
    """
    return drawing(
        *(_line(line, len(axes)) for line in lines),
        *(part for place, axis in enumerate(axes) for part in _axis(axis, place, len(axes))),
        width=WIDTH,
        height=HEIGHT,
        css_class="parallel",
        name=name,
    )


def _axis(axis: ParallelAxis, place: int, n_axes: int) -> Iterator[str]:
    x = _x(place, n_axes)
    top, bottom = coordinate(_y(1)), coordinate(_y(0))
    yield (
        f'<path class="axis" data-axis="{place}" data-x="{coordinate(x)}" '
        f'data-top="{top}" data-bottom="{bottom}" d="M{coordinate(x)} {top}V{bottom}"/>'
    )
    yield words(axis.title, x=x, y=_TOP - 18, css_class="axis-name", anchor="middle")
    for text, share in axis.ticks:
        yield words(text, x=x + 6, y=_y(share) + 4, css_class="tick")


def _line(line: ParallelLine, n_axes: int) -> str:
    path = broken_line(
        None if share is None else (_x(place, n_axes), _y(share))
        for place, share in enumerate(line.places)
    )
    places = ",".join("" if share is None else coordinate(share * 100) for share in line.places)
    return (
        f'<path class="run-line {escape(line.model.css_class)}" data-run="{escape(line.run_id)}" '
        f'data-places="{places}" d="{path}"><title>{escape(line.name)}</title></path>'
    )


def _x(place: int, n_axes: int) -> float:
    room = WIDTH - 2 * _SIDE
    return _SIDE + (room / 2 if n_axes == 1 else place * room / (n_axes - 1))


def _y(share: float) -> float:
    return _TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM)
