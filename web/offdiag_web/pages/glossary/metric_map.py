"""A metric as a map over recall and specificity, with the runs of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from string import ascii_uppercase
from typing import Literal

import numpy as np

from offdiag.metrics.catalogue import Direction, MetricSpec, Scope
from offdiag.metrics.symmetry import (
    ImbalanceGroup,
    has_map,
    height,
    imbalance_effect,
    rate_map,
    value_at,
)
from offdiag.services.datasets import MappedRuns
from offdiag.store.run_costs import RatedRun
from offdiag_web.charts.rate_map import MarkedRun, rate_map_drawing
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.urls.metrics import BALANCED, MetricAddress
from offdiag_web.urls.run import run_url

STEPS = 24
_SHARES = ("0.5", "0.2", "0.1", "0.05", "0.01")
_TABLE_RATES = (0.99, 0.9, 0.7, 0.5, 0.3, 0.1)
MAP_COLUMNS = ("recall", "specificity", "positive_share", "value")


@dataclass(frozen=True, slots=True)
class MappedRun:
    """A run in the legend of the map."""

    run_label: str
    name: str
    url: str
    recall: str
    specificity: str
    value: str


def mapped_spec(specs: Sequence[MetricSpec]) -> MetricSpec | None:
    """The definition for a key that has a map, preferring that of the positive class."""
    found = {spec.scope: spec for spec in specs if has_map(spec)}
    return found.get(Scope.PER_CLASS) or found.get(Scope.AGGREGATE)


def share_at(address: MetricAddress, mapped: MappedRuns) -> Decimal:
    """The share of positives for the map: as requested, else that of the dataset, else half."""
    if address.share is not None:
        return address.share
    if mapped.positive_share is None:
        return BALANCED
    return min(max(Decimal(repr(mapped.positive_share)), Decimal("0.000001")), Decimal("0.999999"))


def map_view(spec: MetricSpec, address: MetricAddress, mapped: MappedRuns) -> dict[str, object]:
    share = share_at(address, mapped)
    drawn = rate_map(spec, positive_share=float(share), steps=STEPS)
    heights = [
        [None if math.isnan(value) else height(spec, value) for value in line]
        for line in drawn.values.tolist()
    ]
    points = list(_points(mapped))
    ramp: Literal["correct", "error"] = "error" if spec.direction is Direction.LOWER else "correct"
    of_positive = _share_text(share)
    marked = [MarkedRun(run_label, *rates) for run_label, _, rates in points]
    return {
        "title": f"{spec.title} over both rates, {of_positive} positive",
        "picture": rate_map_drawing(
            heights, marked, name=_name(spec, of_positive, marked), ramp=ramp
        ),
        "ramp": ramp,
        "ends": _ends(spec),
        "reading": _reading(spec),
        "share": format(share if address.share is not None else round(share, 4), "f"),
        "share_of": _share_of(address, mapped),
        "shares": tuple(_share_links(address, share)),
        "datasets": tuple(
            (each.id, f"{each.project} / {each.name}", each is mapped.dataset)
            for each in mapped.datasets
        ),
        "head": tuple(numbers.metric(rate) for rate in sorted(_TABLE_RATES)),
        "table": tuple(_table(spec, float(share))),
        "runs": tuple(_legend(spec, points, float(share))),
        "left_out": _left_out(mapped, len(points)),
        "n_fields": STEPS**2,
        "csv_url": address.url("csv"),
    }


def map_rows(spec: MetricSpec, share: float) -> Iterator[tuple[float, float, float, float | None]]:
    """Every cell of the map, with undefined values empty."""
    drawn = rate_map(spec, positive_share=share, steps=STEPS)
    for recall, line in zip(drawn.recalls.tolist(), drawn.values.tolist(), strict=True):
        for specificity, value in zip(drawn.specificities.tolist(), line, strict=True):
            yield recall, specificity, share, None if math.isnan(value) else value


def _points(mapped: MappedRuns) -> Iterator[tuple[str, RatedRun, tuple[float, float]]]:
    letters = iter(ascii_uppercase)
    for run in mapped.runs:
        recall = run.recalls[mapped.positive_class]
        specificity = run.recalls[1 - mapped.positive_class]
        if recall is not None and specificity is not None and not run.is_weighted:
            yield next(letters), run, (recall, specificity)


def _legend(
    spec: MetricSpec,
    points: Sequence[tuple[str, RatedRun, tuple[float, float]]],
    share: float,
) -> Iterator[MappedRun]:
    for run_label, run, (recall, specificity) in points:
        yield MappedRun(
            run_label,
            run.name,
            run_url(run.id),
            numbers.metric(recall),
            numbers.metric(specificity),
            _value(spec, recall, specificity, share),
        )


def _table(spec: MetricSpec, share: float) -> Iterator[tuple[str, tuple[str, ...]]]:
    for recall in _TABLE_RATES:
        yield (
            numbers.metric(recall),
            tuple(
                _value(spec, recall, specificity, share) for specificity in sorted(_TABLE_RATES)
            ),
        )


def _value(spec: MetricSpec, recall: float, specificity: float, share: float) -> str:
    value = float(value_at(spec, np.array([recall]), np.array([specificity]), share)[0])
    return "undefined" if math.isnan(value) else numbers.metric(value)


def _ends(spec: MetricSpec) -> tuple[str, str]:
    low = f"{spec.low:g}".replace("-", "\N{MINUS SIGN}")
    return low, "∞" if math.isinf(spec.high) else f"{spec.high:g}"


def _name(spec: MetricSpec, of_positive: str, marked: Sequence[MarkedRun]) -> str:
    runs = f", with {numbers.plural(len(marked), 'run')}" if marked else ""
    return (
        f"{spec.title} for every recall and specificity with {of_positive} of the examples "
        f"positive{runs}; the table has the values"
    )


def _reading(spec: MetricSpec) -> str:
    effect = imbalance_effect(spec)
    if effect is None or effect.group is ImbalanceGroup.INDEPENDENT:
        return (
            "The value is the same at every imbalance, so you can compare runs on datasets with "
            "different class sizes."
        )
    where = " unless both rates are equal" if effect.group is ImbalanceGroup.EQUAL_RECALLS else ""
    return (
        f"The value changes with the imbalance{where}, so values from datasets with different "
        "class sizes cannot be compared. Compared with balanced classes, 5 or 95 % positives move "
        f"it by {effect.mean:.2f} on average over all rates, on a scale from 0 to 1."
    )


def _share_text(share: Decimal) -> str:
    return f"{float(share) * 100:.4g}\N{NO-BREAK SPACE}%"


def _share_of(address: MetricAddress, mapped: MappedRuns) -> str:
    if address.share is None and mapped.dataset is not None and mapped.positive_share is not None:
        return f"share of “{mapped.positive_label}” in {mapped.dataset.name}"
    return "as chosen" if address.share is not None else "balanced"


def _share_links(address: MetricAddress, share: Decimal) -> Iterator[Segment]:
    for text in _SHARES:
        value = Decimal(text)
        yield Segment(_share_text(value), replace(address, share=value).url(), share == value)


def _left_out(mapped: MappedRuns, n_drawn: int) -> str | None:
    n_weighted = sum(run.is_weighted for run in mapped.runs)
    missing = len(mapped.runs) - n_weighted - n_drawn
    said = []
    if missing:
        said.append(f"{numbers.plural(missing, 'run')} left out: one of the rates is undefined.")
    if n_weighted:
        said.append(f"Not drawn: {numbers.plural(n_weighted, 'run')} with sample weights.")
    return " ".join(said) or None
