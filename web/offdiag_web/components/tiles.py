"""Primary metrics as tiles with intervals and baselines, and the cost of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from markupsafe import Markup

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.sentences import typeset
from offdiag.domain.values import MetricValue
from offdiag.metrics.aggregates import custom as of_matrices
from offdiag.metrics.counted import class_sizes
from offdiag.metrics.custom import score_specs, set_specs
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, SMALLEST_WITH_ENDS
from offdiag.metrics.metric_text import PER_CASES
from offdiag.metrics.spec import MetricSpec
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_page import RunCosts, RunResults
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.marks import IN_TILE, Canvas, interval_mark
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT, Extent, Scale, spanning
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.metric_values import (
    UNDEFINED,
    Notes,
    ShownValue,
    extent_of,
    interval_name,
    interval_text,
    shown,
)

CUSTOM: tuple[MetricSpec, ...] = (*of_matrices.SPECS, *set_specs(), *score_specs())
METRIC_OF_BASELINE = "majority_baseline"


def majority_scores(aggregate: Mapping[str, MetricValue]) -> dict[str, float]:
    """Scores of the constant prediction by metric key, from the share of the largest class.

    It always finds that class and no other: balanced accuracy is one over the number of classes
    with samples, macro F1 that share of the one class F1, 2J/(1+J). MCC is undefined for it.
    """
    share = _defined(aggregate, METRIC_OF_BASELINE)
    n_classes = _defined(aggregate, "n_classes_actual")
    if share is None or not n_classes:
        return {}
    return {
        "overall_accuracy": share,
        "balanced_accuracy": 1 / n_classes,
        "macro_f1": 2 * share / (1 + share) / n_classes,
    }


def own_tiles(results: RunResults, notes: Notes) -> list[Tile]:
    """The custom metrics that a team declared."""
    return [
        replace(metric_tile(spec.title, value, notes, scale=_scale_of(spec, value)), baseline=None)
        for spec in CUSTOM
        if (value := results.aggregate.get(spec.key)) is not None
    ]


def _defined(aggregate: Mapping[str, MetricValue], key: str) -> float | None:
    value = aggregate.get(key)
    return None if value is None else value.value


@dataclass(frozen=True, slots=True)
class Tile:
    """One primary metric; `baseline` is the score of the predictions named by `baseline_name`.

    `instead` takes the place of an interval without ends.
    """

    title: str
    value: ShownValue
    mark: Markup | None
    ends: tuple[str, str]
    interval: str | None
    instead: str | None
    baseline: str | None
    detail: str | None = None
    baseline_name: str = "majority"


@dataclass(frozen=True, slots=True)
class Headline:
    """All tiles, the number of samples they are based on, and what limits their intervals."""

    tiles: tuple[Tile, ...]
    n_cases: str
    caution: str | None


_TILES: tuple[tuple[str, str, Scale, str | None], ...] = (
    ("overall_accuracy", "Accuracy", UNIT, None),
    ("balanced_accuracy", "Balanced accuracy", UNIT, None),
    ("mcc", "MCC", SIGNED_UNIT, None),
    ("macro_f1", "Macro F1", UNIT, None),
)


def headline(results: RunResults, notes: Notes) -> Headline:
    """The primary metrics, and those that the team declared."""
    baselines = majority_scores(results.aggregate)
    tiles = [
        metric_tile(
            title,
            results.aggregate.get(key),
            notes,
            scale=scale,
            baseline=baselines.get(key),
            detail=detail,
        )
        for key, title, scale, detail in _TILES
    ]
    tiles += own_tiles(results, notes)
    return Headline(
        tiles=tuple(tiles),
        n_cases=numbers.count(results.facts.n_cases),
        caution=_caution(results),
    )


def _scale_of(spec: MetricSpec, value: MetricValue) -> Scale:
    known = (value.ci_low, value.value, value.ci_high)
    return range_scale(spec) or spanning([end for end in known if end is not None])


def range_scale(spec: MetricSpec) -> Scale | None:
    """The axis from the lowest to the highest value of a metric; None if it is unbounded."""
    if math.isinf(spec.low) or math.isinf(spec.high):
        return None
    return Scale(Decimal(repr(spec.low)), Decimal(repr(spec.high)))


def metric_tile(
    title: str,
    value: MetricValue | None,
    notes: Notes,
    *,
    scale: Scale = UNIT,
    baseline: float | None = None,
    detail: str | None = None,
) -> Tile:
    """A value with its interval on a scale, and the baseline, undefined if there is none."""
    extent = extent_of(value)
    interval = None if value is None else interval_text(value)
    return Tile(
        title=title,
        value=shown(value, notes),
        mark=interval_mark(
            extent,
            scale=scale,
            name=f"{title} on a scale from {scale.ends[0]} to {scale.ends[1]}, "
            f"{interval_name(interval)}",
            baseline=baseline,
            canvas=IN_TILE,
        )
        if extent
        else None,
        ends=scale.ends,
        interval=interval,
        instead=None if value is None else typeset(value.why_no_interval or "") or None,
        baseline=UNDEFINED if baseline is None else numbers.metric(baseline),
        detail=detail,
    )


def _caution(results: RunResults) -> str | None:
    """A warning if a class is too small for the intervals of averages to be trusted."""
    counted = results.counted
    return small_classes(class_sizes(counted), counted.labels.names, many="classes")


def small_classes(supports: Sequence[int], names: Sequence[str], *, many: str) -> str | None:
    """How classes, or labels, with few samples affect the intervals of averages over them."""
    by_size = sorted((n, name) for n, name in zip(supports, names, strict=True) if n)
    if not by_size:
        return None
    withheld = f"Averages over {many} are unreliable and have no interval"
    absent = [quoted_name(name) for n, name in zip(supports, names, strict=True) if not n]
    if absent:
        return f"{withheld}: there is no example of {numbers.listed(absent, at_most=3)}."
    n_cases, name = by_size[0]
    if n_cases >= RELIABLE_CLASS_SIZE:
        return None
    said = "Intervals of averages are unreliable"
    return (
        f"{said if n_cases >= SMALLEST_WITH_ENDS else withheld}: "
        f"{quoted_name(name)} has {numbers.plural(n_cases, 'example')}."
    )


COST_KEY = "mean_cost"


@dataclass(frozen=True, slots=True)
class CostColumn:
    """The column for the costs that a dataset is judged by; `title` names their version."""

    title: str
    amounts: Amounts
    scale: Scale


def cost_column(scope: DatasetFacts | None, entries: Sequence[RunEntry]) -> CostColumn | None:
    """The column for runs of one dataset; None if no costs are set for their errors."""
    if scope is None or scope.costs is None:
        return None
    extents = [
        extent
        for entry in entries
        if (extent := extent_of(entry.metrics.get(COST_KEY), times=PER_CASES)) is not None
    ]
    ends = [end for extent in extents for end in (extent.lowest, extent.highest)]
    name, _, version = scope.costs.rpartition("@")
    unit = "" if scope.currency is None else f" {scope.currency}"
    return CostColumn(f"Cost{unit} / 1,000 ({name} v{version})", amounts_for(ends), spanning(ends))


def cost_cell(
    entry: RunEntry, column: CostColumn, notes: Notes, *, canvas: Canvas, css_class: str
) -> tuple[ShownValue, Markup | None]:
    """The cost of a run with its mark, unknown until the run is judged by the current costs."""
    value = entry.metrics.get(COST_KEY)
    extent = extent_of(value, times=PER_CASES)
    if extent is None:
        return ShownValue("not yet") if value is None else shown(value, notes), None
    name = f"{column.title}: {_interval_words(extent, column.amounts)}"
    mark = interval_mark(extent, scale=column.scale, name=name, canvas=canvas, css_class=css_class)
    return ShownValue(column.amounts.text(extent.estimate)), mark


def cost_tile(costs: RunCosts, notes: Notes, *, n_cases: int) -> Tile:
    """The cost of a run, compared with the cheapest constant prediction."""
    mean = costs.values[COST_KEY]
    constant = costs.values["best_trivial_cost"].value
    reference = None if constant is None or not n_cases else constant / n_cases * PER_CASES
    extent = extent_of(mean, times=PER_CASES)
    title = f"Cost / 1,000{'' if costs.currency is None else f', {costs.currency}'}"
    if extent is None:
        return Tile(title, shown(mean, notes), None, ("", ""), None, None, None)
    shown_ends = [extent.lowest, extent.highest, *([] if reference is None else [reference])]
    amounts, scale = amounts_for(shown_ends), spanning(shown_ends)
    interval = None
    if extent.low is not None and extent.high is not None:
        interval = amounts.interval(extent.low, extent.high)
    return Tile(
        title=title,
        value=ShownValue(amounts.text(extent.estimate)),
        mark=interval_mark(
            extent,
            scale=scale,
            name=f"{title} on a scale from {scale.ends[0]} to {scale.ends[1]}, "
            f"{_interval_words(extent, amounts)}",
            baseline=reference,
            canvas=IN_TILE,
        ),
        ends=scale.ends,
        interval=interval,
        instead=typeset(mean.why_no_interval or "") or None,
        baseline=None if reference is None else amounts.text(reference),
        detail=f", {costs.name} v{costs.version}",
        baseline_name="constant",
    )


def _interval_words(extent: Extent, amounts: Amounts) -> str:
    if extent.low is None or extent.high is None:
        return interval_name(None)
    return interval_name(amounts.interval(extent.low, extent.high))
