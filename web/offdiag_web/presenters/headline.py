"""The few numbers at the top of a run: each with interval, baseline and n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, SMALLEST_WITH_ENDS
from offdiag.store.run_page import RunResults
from offdiag_web.charts.interval import IN_TILE, interval_mark
from offdiag_web.charts.scale import SIGNED_UNIT, UNIT, Scale
from offdiag_web.presenters import numbers
from offdiag_web.presenters.baselines import majority_scores
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.values import (
    UNDEFINED,
    Notes,
    ShownValue,
    extent_of,
    interval_text,
    shown,
)


@dataclass(frozen=True, slots=True)
class Tile:
    """One headline number; `baseline` is what the answers named by `baseline_name` score.

    `instead` stands in place of an interval that has no ends.
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
    """All tiles, on how many cases they rest, and what limits their intervals."""

    tiles: tuple[Tile, ...]
    n_cases: str
    caution: str | None


_TILES: tuple[tuple[str, str, Scale, str | None], ...] = (
    ("overall_accuracy", "Accuracy", UNIT, None),
    ("balanced_accuracy", "Balanced accuracy", UNIT, None),
    ("mcc", "MCC", SIGNED_UNIT, None),
    ("macro_f1", "Macro F1", UNIT, ", mean of class F1"),
)


def headline(results: RunResults, notes: Notes) -> Headline:
    """The numbers people quote, and the worst class beside them."""
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
    worst = _worst_class_tile(results, notes)
    return Headline(
        tiles=tuple([*tiles, worst] if worst else tiles),
        n_cases=numbers.count(results.facts.n_cases),
        caution=_caution(results),
    )


def metric_tile(
    title: str,
    value: MetricValue | None,
    notes: Notes,
    *,
    scale: Scale = UNIT,
    baseline: float | None = None,
    detail: str | None = None,
) -> Tile:
    """A value with its interval on a scale, and the baseline, undefined where there is none."""
    extent = None if value is None else extent_of(value)
    interval = None if value is None else interval_text(value)
    said = f"95 % interval {interval}" if interval else "without interval"
    return Tile(
        title=title,
        value=shown(value, notes),
        mark=interval_mark(
            extent,
            scale=scale,
            name=f"{title} on a scale from {scale.ends[0]} to {scale.ends[1]}, {said}",
            baseline=baseline,
            canvas=IN_TILE,
        )
        if extent
        else None,
        ends=scale.ends,
        interval=interval,
        instead=None if value is None else value.why_no_interval,
        baseline=UNDEFINED if baseline is None else numbers.metric(baseline),
        detail=detail,
    )


def _worst_class_tile(results: RunResults, notes: Notes) -> Tile | None:
    recalls = results.per_class["recall"]
    defined = [(r.value, code) for code, r in enumerate(recalls) if r.value is not None]
    if not defined:
        return None
    code = min(defined)[1]
    found, support = int(results.matrix.counts[code, code]), int(results.matrix.actual[code])
    name = quoted_name(results.matrix.labels.names[code])
    tile = metric_tile(
        "Worst class recall",
        recalls[code],
        notes,
        detail=f": {name}, found {numbers.hits_of(found, support)}",
    )
    return replace(tile, baseline=None)


def _caution(results: RunResults) -> str | None:
    """Said where a class is too small for the intervals of averages to be trusted."""
    matrix = results.matrix
    return small_classes(matrix.actual.tolist(), matrix.labels.names, one="class", many="classes")


def small_classes(
    supports: Sequence[int], names: Sequence[str], *, one: str, many: str
) -> str | None:
    """What classes, or labels, of so many cases mean for the intervals of averages over them."""
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
    said = f"Intervals of the averages over {many} are unreliable"
    return (
        f"{said if n_cases >= SMALLEST_WITH_ENDS else withheld}: the smallest {one}, "
        f"{quoted_name(name)}, has {numbers.plural(n_cases, 'case')}."
    )
