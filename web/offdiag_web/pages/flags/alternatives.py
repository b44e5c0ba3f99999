"""Runs that are better on the class of a flag."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.number_text import p_value
from offdiag.metrics.metric_text import points
from offdiag.services.flags.alternatives import Alternative, AlternativeRuns, Gain
from offdiag_web.charts.marks import interval_mark
from offdiag_web.charts.svg import SIGNED_UNIT, Extent
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.urls.run import run_url

LEVEL = 0.05
"""The chance of naming any run that is no better, over all compared runs."""


@dataclass(frozen=True, slots=True)
class GainText:
    """A difference in points with its interval, as a mark and in words."""

    difference: str
    interval: str
    mark: Markup


@dataclass(frozen=True, slots=True)
class AlternativeLine:
    """One run. `verdict` and `cost` say only what the intervals support."""

    name: str
    url: str
    model: str | None
    recall: str
    gain: GainText | None
    verdict: str
    is_certain: bool
    accuracy: GainText | None
    cost: str


@dataclass(frozen=True, slots=True)
class AlternativesView:
    """The runs and how they were chosen; `none` says so if there are none."""

    title: str
    lines: tuple[AlternativeLine, ...]
    none: str | None
    note: str


def alternatives_view(better: AlternativeRuns, class_label: str) -> AlternativesView:
    """Present the runs that are better on a class."""
    name = quoted_name(class_label)
    picked = (
        f"The best of {numbers.plural(better.n_compared, 'other run')} on this ground truth, "
        f"compared example by example; each p counts all {numbers.count(better.n_compared)}."
        if better.n_compared > 1
        else "Compared example by example on the same ground truth."
    )
    return AlternativesView(
        title=f"Better on {name}",
        lines=tuple(_line(each) for each in better.runs),
        none=None if better.runs else f"No other run on this ground truth finds more of {name}.",
        note=picked,
    )


def _line(each: Alternative) -> AlternativeLine:
    recall = each.run.recall
    is_certain = each.p is not None and each.p <= LEVEL
    return AlternativeLine(
        name=each.run.name,
        url=run_url(each.run.run_id),
        model=each.run.model,
        recall=recall.undefined_text if recall.value is None else numbers.metric(recall.value),
        gain=None if each.recall is None else _gain(each.recall, "Recall of the class"),
        verdict=_verdict(each, is_certain=is_certain),
        is_certain=is_certain,
        accuracy=None if each.accuracy is None else _gain(each.accuracy, "Accuracy"),
        cost=_cost(each.accuracy),
    )


def _gain(gain: Gain, of_what: str) -> GainText:
    interval = f"{points(gain.low)} to {points(gain.high)}"
    return GainText(
        difference=points(gain.value),
        interval=interval,
        mark=interval_mark(
            Extent(gain.value, gain.low, gain.high),
            scale=SIGNED_UNIT,
            name=f"{of_what}: interval of the difference {interval}",
            baseline=0.0,
        ),
    )


def _verdict(each: Alternative, *, is_certain: bool) -> str:
    if each.p is None or each.recall is None:
        return "not compared example by example: a matrix has no examples"
    if is_certain:
        return f"finds more, {p_value(each.p)}"
    return f"could be chance, {p_value(each.p)}"


def _cost(accuracy: Gain | None) -> str:
    """How switching affects the accuracy, by the interval of the difference."""
    if accuracy is None:
        return "not known"
    if accuracy.high < 0:
        return "costs accuracy"
    if accuracy.low > 0:
        return "gains accuracy"
    return "no clear difference"
