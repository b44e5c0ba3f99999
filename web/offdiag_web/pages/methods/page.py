"""The methods of a dataset: the mean of each over its seeds or folds, and which are behind.

Learning curves show the mean of each method over the number of training examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log

from flask import Blueprint, make_response, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.number_text import p_in_column
from offdiag.domain.runs import METHOD
from offdiag.records.runs.method import (
    CURVE_COLUMNS,
    METHOD_COLUMNS,
    curve_row,
    method_row,
    methods_document,
)
from offdiag.services.methods.compared import Methods, methods_of
from offdiag.services.methods.estimates import Design, Method
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag_web.app.context import current_registry, kept_moments
from offdiag_web.app.dispatch import TWIN, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.charts.marks import IN_PANEL, interval_mark
from offdiag_web.charts.plot import (
    Frame,
    Tick,
    box,
    grid,
    line,
    name_across,
    name_up,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.svg import (
    SIGNED_UNIT,
    Extent,
    Scale,
    coordinate,
    drawing,
    fitted,
    reading,
    spanning,
)
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.datasets import (
    DATASET,
    METRIC_TITLES,
    dataset_frame,
    find_in_any_project,
    runs_of_dataset_url,
)
from offdiag_web.components.model_marks import (
    ModelMark,
    model_marks,
    model_point,
    names_at_ends,
)
from offdiag_web.components.numbers import extent_of, interval_text
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import quoted
from offdiag_web.urls.run import run_url

WIDTH, HEIGHT = 860, 300
FRAME = Frame(left=44, top=28, width=WIDTH - 240, height=HEIGHT - 68)
_INSET, _BETWEEN_TICKS = 0.04, 52
"""Share of the width left free at both ends; pixels from one text below to the next."""
_APART = 3
"""Pixels between the marks of methods at one size, so that their bars stay readable."""


def curves_drawing(points: Sequence[Method], *, metric: str) -> Markup:
    """Draw methods with their sizes in order, sizes on a logarithmic axis; none is unknown."""
    curves = [list(of) for _, of in groupby(points, key=lambda each: each.name)]
    marks = model_marks(curve[0].name for curve in curves)
    sizes = sorted({_size(each) for each in points})
    extents = [extent for each in points if (extent := extent_of(each.mean)) is not None]
    scale = spanning([end for each in extents for end in (each.lowest, each.highest)], steps=6)
    up = ticks_of(scale)
    drawn = [
        _curve(curve, marks[curve[0].name], sizes, scale, shift=(at - (len(curves) - 1) / 2))
        for at, curve in enumerate(curves)
    ]
    ends = [
        (marks[curve[-1].name], FRAME.y(scale.clamped(curve[-1].mean.value or 0.0)))
        for curve in curves
    ]
    return drawing(
        box(FRAME),
        grid(FRAME, up=up),
        *ticks_up(FRAME, up),
        *ticks_across(FRAME, _ticks(sizes)),
        name_across(FRAME, "training size (logarithmic)"),
        name_up(FRAME, metric),
        *drawn,
        *names_at_ends(ends, x=FRAME.right + 10, lowest=HEIGHT - 4),
        width=WIDTH,
        height=HEIGHT,
        css_class="model-trend by-size",
        name=f"{metric} of {numbers.plural(len(curves), 'method')} over training size",
    )


def size_text(size: float) -> str:
    """A training size: "1,500", or a share such as "0.25"."""
    return f"{size:,.0f}" if size == int(size) else f"{size:,g}"


def _size(method: Method) -> float:
    if method.train_size is None:
        raise ValueError(f"{method.name} has no training size")
    return method.train_size


def _share(size: float, sizes: Sequence[float]) -> float:
    if len(sizes) < 2:
        return 0.5
    along = log(size / sizes[0]) / log(sizes[-1] / sizes[0])
    return _INSET + (1 - 2 * _INSET) * along


def _ticks(sizes: Sequence[float]) -> list[Tick]:
    """The sizes themselves, from the largest down as far as their texts have room."""
    found: list[Tick] = []
    for size in reversed(sizes):
        at = _share(size, sizes)
        if not found or (found[-1][1] - at) * FRAME.width >= _BETWEEN_TICKS:
            found.append((size_text(size), at))
    return found


def _curve(
    curve: Sequence[Method], mark: ModelMark, sizes: Sequence[float], scale: Scale, *, shift: float
) -> str:
    aside = shift * _APART / FRAME.width
    places = []
    drawn = []
    for each in curve:
        extent = extent_of(each.mean)
        if extent is None:
            continue
        across, up = _share(_size(each), sizes) + aside, scale.clamped(extent.estimate)
        places.append((across, up))
        x, y = FRAME.x(across), FRAME.y(up)
        top, bottom = (FRAME.y(scale.clamped(end)) for end in (extent.highest, extent.lowest))
        if top != bottom:
            drawn.append(
                f'<path class="line" d="M{coordinate(x)} {coordinate(top)}V{coordinate(bottom)}"/>'
            )
        drawn.append(model_point(mark, x, y))
        interval = interval_text(each.mean)
        text = (
            f"{each.name}, training size {size_text(_size(each))}: "
            f"{numbers.metric(extent.estimate)}{f' ({interval})' if interval else ''}"
        )
        values = (_size(each), extent.estimate)
        drawn.append(reading(text, x, y, values=values, series=each.name))
    return f'<g class="{mark.css_class}">{line(FRAME, places, "line")}{"".join(drawn)}</g>'


blueprint = Blueprint("methods", __name__)
find_in_any_project(blueprint)


@dataclass(frozen=True, slots=True)
class MethodLine:
    """One method; `behind` and what follows it are empty for the best one."""

    name: str
    url: str
    n_runs: str
    mean: str
    mark: Markup
    interval: str
    spread: str
    from_training: str
    pooled: str
    is_best: bool
    is_behind: bool
    behind: str
    behind_interval: str
    p: str
    status: str
    runs: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A method at one training size."""

    name: str
    train_size: str
    n_runs: str
    mean: str
    interval: str
    spread: str
    pooled: str


@dataclass(frozen=True, slots=True)
class CurvesView:
    """The chart of learning curves, and its values; `left_out` runs say no training size."""

    chart: Markup
    lines: tuple[CurveLine, ...]
    left_out: str
    csv_url: str


@blueprint.get(f"{DATASET}/methods")
def page(name: str) -> Response:
    found = _found(name)
    with current_registry().database.read() as session:
        size = dataset_size(session, found.dataset.id)
    return make_response(_rendered(found, size))


@blueprint.get(f"{DATASET}/methods{TWIN}")
def twin(name: str, form: str) -> Response:
    document = methods_document(_found(name))
    if form == "json":
        return json_response(document)
    return csv_response(f"{name}-methods", METHOD_COLUMNS, map(method_row, document.methods))


@blueprint.get(f"{DATASET}/methods/learning-curves.csv")
def learning_curves(name: str) -> Response:
    document = methods_document(_found(name))
    rows = map(curve_row, document.learning_curves)
    return csv_response(f"{name}-learning-curves", CURVE_COLUMNS, rows)


def _found(name: str) -> Methods:
    return methods_of(
        current_registry().database,
        project=requested_project(),
        name=name,
        metric=request.args.get("metric"),
        kept=kept_moments(),
    )


def _rendered(found: Methods, size: DatasetSize) -> str:
    dataset = found.dataset
    address = DatasetAddress(dataset.project, dataset.name)
    means = [extent_of(method.mean) for method in found.methods]
    scale = fitted([extent for extent in means if extent is not None], within=SIGNED_UNIT)
    keys = dict.fromkeys((*METRIC_TITLES, found.metric))

    def mark(method: Method) -> Markup:
        extent = extent_of(method.mean) or Extent(0.0)
        name = f"{method.name}: {_value_text(method)}"
        return interval_mark(extent, scale=scale, name=name, canvas=IN_PANEL)

    return render_template(
        "methods/page.html",
        address=address,
        frame=dataset_frame(dataset, size, current="methods"),
        metric=METRIC_TITLES.get(found.metric, found.metric),
        metrics=tuple(
            Segment(
                METRIC_TITLES.get(key, key), address.methods_url(metric=key), key == found.metric
            )
            for key in keys
        ),
        statement=_statement(found.methods),
        lines=tuple(_line(each, mark(each), address) for each in found.methods),
        has_folds=any(each.pooled is not None for each in found.methods),
        ends=(f"{scale.low:f}", f"{scale.high:f}"),
        curves=_curves(found, address) if found.curves else None,
    )


def _curves(found: Methods, address: DatasetAddress) -> CurvesView:
    metric = METRIC_TITLES.get(found.metric, found.metric)
    lines = tuple(
        CurveLine(
            name=each.name,
            train_size=size_text(each.train_size or 0.0),
            n_runs=_n_runs(each),
            mean=_value_text(each),
            interval=interval_text(each.mean) or each.why_not_compared or "",
            spread="" if each.spread is None else numbers.metric(each.spread),
            pooled=_pooled(each),
        )
        for each in found.curves
    )
    left_out = found.n_without_size
    return CurvesView(
        chart=curves_drawing(found.curves, metric=metric),
        lines=lines,
        left_out=numbers.plural(left_out, "run") if left_out else "",
        csv_url=address.learning_curves_url(metric=found.metric),
    )


def _statement(methods: Sequence[Method]) -> str:
    """Which method is best, and which are behind it, in a sentence for each design."""
    said = []
    for design in Design:
        able = [
            each for each in methods if each.design is design and each.why_not_compared is None
        ]
        best = next((each for each in able if each.rank_status is RankStatus.BEST), None)
        if best is None:
            continue
        others = [each for each in able if each is not best]
        behind = [each.name for each in others if each.rank_status is RankStatus.BEHIND]
        level = [each.name for each in others if each.rank_status is not RankStatus.BEHIND]
        first = f"{best.name} has the highest mean of {numbers.plural(len(able), 'method')}"
        ends = []
        if behind:
            verb = "is" if len(behind) == 1 else "are"
            ends.append(f"{numbers.listed(behind)} {verb} significantly worse")
        if level:
            verb = "is" if len(level) == 1 else "are"
            ends.append(f"{numbers.listed(level)} {verb} not separable from it")
        said.append(f"{'; '.join([first, *ends])}.")
    return " ".join(said)


def _line(method: Method, mark: Markup, address: DatasetAddress) -> MethodLine:
    apart = method.difference
    return MethodLine(
        name=method.name,
        url=runs_of_dataset_url(address, f"tag:{METHOD}={quoted(method.name)}"),
        n_runs=_n_runs(method),
        mean=_value_text(method),
        mark=mark,
        interval=interval_text(method.mean) or "",
        spread="" if method.spread is None else numbers.metric(method.spread),
        from_training=""
        if method.from_training is None or method.design is Design.FOLDS
        else f"{method.from_training:.0%}".replace("%", " %"),
        pooled=_pooled(method),
        is_best=method.rank_status is RankStatus.BEST,
        is_behind=method.rank_status is RankStatus.BEHIND,
        behind="" if apart is None or apart.value is None else numbers.metric(apart.value),
        behind_interval="" if apart is None else interval_text(apart) or "",
        p="" if method.p_adjusted is None else p_in_column(method.p_adjusted),
        status=method.why_not_compared or "",
        runs=tuple(
            (
                " ".join(
                    f"{kind} {value}"
                    for kind, value in (("seed", run.seed), ("fold", run.fold))
                    if value
                )
                or run.name,
                run_url(run.id),
                numbers.metric(run.value),
            )
            for run in method.runs
        ),
    )


def _value_text(method: Method) -> str:
    return "" if method.mean.value is None else numbers.metric(method.mean.value)


def _n_runs(method: Method) -> str:
    return numbers.plural(len(method.runs), method.design.value.removesuffix("s"))


def _pooled(method: Method) -> str:
    if method.pooled is None or method.pooled.value is None:
        return ""
    return numbers.metric(method.pooled.value)
