"""The methods of a dataset: means over seeds or folds, and which methods are behind the best.

Learning curves show the mean of each method over the number of training examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import log

from flask import Blueprint, make_response, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.number_text import p_in_column, percent
from offdiag.domain.runs import METHOD
from offdiag.records.runs.method import (
    CURVE_COLUMNS,
    METHOD_COLUMNS,
    curve_row,
    method_row,
    methods_document,
)
from offdiag.services.methods.compared import MOST_RUNS, Methods, methods_of
from offdiag.services.methods.estimates import Design, Method
from offdiag.store.dataset_page import dataset_size
from offdiag.store.method_runs import MethodRun
from offdiag_web.app.context import current_registry, kept_moments
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
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
    Scale,
    coordinate,
    drawing,
    fitted,
    reading,
    spanning,
)
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.datasets import (
    DATASET,
    METRIC_TITLES,
    dataset_frame,
    find_in_any_project,
    runs_of_dataset_url,
)
from offdiag_web.components.metric_values import extent_of, with_interval
from offdiag_web.components.model_marks import ModelMark, model_marks, model_point, names_at_ends
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import quoted
from offdiag_web.urls.run import run_url

WIDTH, HEIGHT = 860, 300
FRAME = Frame(left=44, top=28, width=WIDTH - 240, height=HEIGHT - 68)
_INSET, _BETWEEN_TICKS = 0.04, 52
"""Share of the width left free at both ends; minimum pixels between tick labels."""
_APART = 3
"""Pixels between the marks of methods at the same size, so that their bars stay readable."""


def curves_drawing(
    points: Sequence[Method], marks: Mapping[str | None, ModelMark], *, metric: str
) -> Markup:
    """Draw methods with known training sizes, in order, on a logarithmic axis.

    All sizes are numbers of examples, or all are shares.
    """
    kind = "share" if is_share(points[0]) else "size"
    curves = [list(of) for _, of in groupby(points, key=lambda each: each.name)]
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
        name_across(FRAME, f"training {kind} (logarithmic)"),
        name_up(FRAME, metric),
        *drawn,
        *names_at_ends(ends, x=FRAME.right + 10, lowest=HEIGHT - 4),
        width=WIDTH,
        height=HEIGHT,
        css_class="model-trend by-size",
        name=f"{metric} of {numbers.plural(len(curves), 'method')} over training {kind}",
    )


def is_share(method: Method) -> bool:
    """Whether a training size is a share of the examples: up to 1."""
    return _size(method) <= 1


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
    """The sizes themselves as ticks, from the largest down, as far as there is room for labels."""
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
        text = f"{each.name}, training size {size_text(_size(each))}: {with_interval(each.mean)}"
        values = (_size(each), extent.estimate)
        drawn.append(reading(text, x, y, values=values, series=each.name))
    return f'<g class="{mark.css_class}">{line(FRAME, places, "line")}{"".join(drawn)}</g>'


blueprint = Blueprint("methods", __name__)
find_in_any_project(blueprint)


@blueprint.get(f"{DATASET}/methods")
def page(name: str) -> Response:
    found = _found(name)
    with current_registry().database.read() as session:
        size = dataset_size(session, found.dataset.id)
    dataset = found.dataset
    address = DatasetAddress(dataset.project, dataset.name)
    metric = METRIC_TITLES.get(found.metric, found.metric)
    means = [extent_of(method.mean) for method in found.methods]
    scale = fitted([extent for extent in means if extent is not None], within=SIGNED_UNIT)
    keys = dict.fromkeys((*METRIC_TITLES, found.metric))
    points = [point for point in found.curves if point.mean.value is not None]
    marks = model_marks(dict.fromkeys(point.name for point in points))

    def mark(method: Method) -> str:
        extent = extent_of(method.mean)
        if extent is None:
            return ""
        name = f"{method.name}: {metric_values.known(method.mean)}"
        return interval_mark(extent, scale=scale, name=name, canvas=IN_PANEL)

    html = render_template(
        "methods/page.html",
        address=address,
        frame=dataset_frame(dataset, size, current="methods"),
        metric=metric,
        metrics=tuple(
            Segment(
                METRIC_TITLES.get(key, key), address.methods_url(metric=key), key == found.metric
            )
            for key in keys
        ),
        statement=_statement(found.methods, lower_is_better=found.lower_is_better),
        methods=[
            (each, mark(each), runs_of_dataset_url(address, f"tag:{METHOD}={quoted(each.name)}"))
            for each in found.methods
        ],
        n_runs=_n_runs,
        seeds=_seeds,
        run_name=_run_name,
        run_url=run_url,
        p_in_column=p_in_column,
        size_text=size_text,
        has_folds=any(each.pooled is not None for each in found.methods),
        ends=scale.ends,
        charts=[
            curves_drawing(alike, marks, metric=metric)
            for shares in (False, True)
            if (alike := [point for point in points if is_share(point) is shares])
        ],
        curves=found.curves,
        n_without_size=found.n_without_size,
        n_weighted=found.n_weighted,
        newest=MOST_RUNS if found.is_cut else None,
        curves_url=address.learning_curves_url(metric=found.metric),
    )
    return make_response(html)


@blueprint.get(f"{DATASET}/methods{DATA_FORMAT}")
def export(name: str, form: str) -> Response:
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
    project, metric = requested_project(), request.args.get("metric")
    refuse_unread()
    return methods_of(
        current_registry().database,
        project=project,
        name=name,
        metric=metric,
        kept=kept_moments(),
    )


def _statement(methods: Sequence[Method], *, lower_is_better: bool) -> str:
    """Which method is best, and which are behind it, with a sentence for each design."""
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
        end = "lowest" if lower_is_better else "highest"
        first = f"{best.name} has the {end} mean of {numbers.plural(len(able), 'method')}"
        ends = []
        if behind:
            verb = "is" if len(behind) == 1 else "are"
            ends.append(f"{numbers.listed(behind)} {verb} significantly worse")
        if level:
            ends.append(f"no significant difference from {numbers.listed(level)}")
        said.append(f"{'; '.join([first, *ends])}.")
    return " ".join(said)


def _seeds(method: Method) -> str:
    """Share of the variance of the mean that is due to seeds."""
    if method.from_training is None or method.design is Design.FOLDS:
        return ""
    return percent(method.from_training)


def _run_name(run: MethodRun) -> str:
    named = (("seed", run.seed), ("fold", run.fold))
    return " ".join(f"{kind} {value}" for kind, value in named if value) or run.name


def _n_runs(method: Method) -> str:
    return numbers.plural(len(method.runs), method.design.value.removesuffix("s"))
