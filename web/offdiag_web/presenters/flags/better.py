"""Runs to use instead of a flagged one: what they win on the class and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.reports.wording import points
from offdiag.services.flags.better import BetterOnClass, BetterRuns, Gain
from offdiag_web.charts.interval import interval_mark
from offdiag_web.charts.scale import SIGNED_UNIT, Extent
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import quoted_name

LEVEL = 0.05
"""Chance of naming a run that is no better, over all runs that were compared."""


@dataclass(frozen=True, slots=True)
class GainText:
    """A difference in points with its interval, drawn and in words."""

    difference: str
    interval: str
    mark: Markup


@dataclass(frozen=True, slots=True)
class BetterLine:
    """One run. `verdict` and `price` say what the intervals allow to say, and no more."""

    name: str
    url: str
    model: str | None
    recall: str
    gain: GainText | None
    verdict: str
    is_certain: bool
    accuracy: GainText | None
    price: str


@dataclass(frozen=True, slots=True)
class BetterView:
    """The runs and how they were picked; `none` says so where there is none."""

    title: str
    lines: tuple[BetterLine, ...]
    none: str | None
    note: str


def better_view(
    better: BetterRuns, class_label: str, *, run_url: Callable[[str], str]
) -> BetterView:
    """Present the runs that do better on a class."""
    name = quoted_name(class_label)
    picked = (
        f"The best of {numbers.plural(better.n_compared, 'other run')} on this ground truth, "
        f"compared case by case; each p counts all {numbers.count(better.n_compared)}."
        if better.n_compared > 1
        else "Compared case by case on the same ground truth."
    )
    return BetterView(
        title=f"Better on {name}",
        lines=tuple(_line(each, run_url) for each in better.runs),
        none=None if better.runs else f"No other run on this ground truth finds more of {name}.",
        note=picked,
    )


def _line(each: BetterOnClass, run_url: Callable[[str], str]) -> BetterLine:
    recall = each.run.recall.value
    is_certain = each.p is not None and each.p <= LEVEL
    return BetterLine(
        name=each.run.name,
        url=run_url(each.run.run_id),
        model=each.run.model,
        recall="undefined" if recall is None else numbers.metric(recall),
        gain=None if each.recall is None else _gain(each.recall, "Recall of the class"),
        verdict=_verdict(each, is_certain=is_certain),
        is_certain=is_certain,
        accuracy=None if each.accuracy is None else _gain(each.accuracy, "Accuracy"),
        price=_price(each.accuracy),
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


def _verdict(each: BetterOnClass, *, is_certain: bool) -> str:
    if each.p is None or each.recall is None:
        return "not compared case by case: a matrix has no cases"
    p = "p < 0.001" if each.p < 0.001 else f"p = {each.p:.2g}"
    if is_certain:
        return f"finds more, {p}"
    return f"could be chance, {p}"


def _price(accuracy: Gain | None) -> str:
    """What switching does to the accuracy, by the interval of the difference."""
    if accuracy is None:
        return "not known"
    if accuracy.high < 0:
        return "costs accuracy"
    if accuracy.low > 0:
        return "gains accuracy"
    return "no clear difference"
