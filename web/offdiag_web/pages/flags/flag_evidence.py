"""The evidence of a flag: what each rule compared, and which runs are better on its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from offdiag.domain.number_text import p_value
from offdiag.flags.assessment import unchecked_rules
from offdiag.flags.catalogue import RULES
from offdiag.flags.verdict import Condition, Sign, why_undefined
from offdiag.metrics.metric_text import points, points_alone
from offdiag.services.flags.alternatives import Alternative, AlternativeRuns, Gain
from offdiag.services.flags.page import FlagDetail
from offdiag_web.charts.marks import interval_mark
from offdiag_web.charts.svg import SIGNED_UNIT, Extent
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.flags import rule_title
from offdiag_web.components.numbers import MINUS
from offdiag_web.urls.run import run_url

_SIGNS = {
    Sign.AT_LEAST: "≥",
    Sign.ABOVE: ">",
    Sign.AT_MOST: "≤",
    Sign.BELOW: "<",
    Sign.EQUAL: "=",
}
_DIGITS = (4, 6, 9, 17)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One condition of a rule in words."""

    what: str
    measured: str
    threshold: str
    holds: bool


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """A rule with its conditions; `about` is the class it was checked for, if any."""

    rule: str
    title: str
    about: str | None
    fires: bool
    is_this: bool
    comparisons: tuple[Comparison, ...]


def checks_view(detail: FlagDetail) -> dict[str, object]:
    """Present what the rules measured."""
    content, task = detail.entry.flag.content, detail.entry.task
    this, evidence = content.rule, content.evidence
    return {
        "rules": tuple(
            CheckedRule(
                rule=each.rule,
                title=rule_title(each.rule, task),
                about=None if each.class_label is None else quoted_name(each.class_label),
                fires=each.fires,
                is_this=each.rule == this,
                comparisons=tuple(
                    _comparison(condition, evidence if each.rule == this else {})
                    for condition in each.conditions
                ),
            )
            for each in detail.checked
        ),
        "not_asked": _not_asked(detail),
    }


def pair_text(measured: float | None, threshold: float) -> tuple[str, str]:
    """Both as written, with more digits if fewer would make different values look the same."""
    if measured is None:
        return "undefined", _number(threshold, _DIGITS[0])
    for digits in _DIGITS:
        pair = _number(measured, digits), _number(threshold, digits)
        if pair[0] != pair[1] or measured == threshold:
            break
    return pair


def _number(value: float, digits: int) -> str:
    if value == int(value) and abs(value) < 1e16:
        return f"{int(value):,}".replace("-", MINUS)
    return f"{value:,.{digits}g}".replace("-", MINUS)


def _comparison(condition: Condition, evidence: Mapping[str, Any]) -> Comparison:
    measured, threshold = pair_text(condition.measured, condition.threshold)
    is_undefined = condition.measured is None
    return Comparison(
        what=condition.what,
        measured=why_undefined(condition.what, condition.reason, evidence)
        if is_undefined
        else measured,
        threshold=f"{_SIGNS[condition.sign]} {threshold}",
        holds=condition.holds,
    )


def _not_asked(detail: FlagDetail) -> tuple[str, ...]:
    """Rules that could not be checked, and what is missing."""
    results, this = detail.results, detail.entry.flag.content.rule
    if results is None:
        return ()
    missing = dict(unchecked_rules(results.counted))
    if results.cost_matrix_id is None:
        missing["F11"] = "the dataset has no default costs"
    if results.baseline_run_id is None and "F14" not in missing:
        missing["F14"] = "the dataset has no baseline, or this run is it"
    return tuple(
        f"{rule} {RULES[rule].title}: {why}." for rule, why in missing.items() if rule != this
    )


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
        f"The best of {numbers.plural(better.n_compared, 'other run')} on these labels, compared "
        f"example by example; each p is adjusted for all {numbers.count(better.n_compared)}."
        if better.n_compared > 1
        else "Compared example by example on the same labels."
    )
    return AlternativesView(
        title=f"Better on {name}",
        lines=tuple(_line(each) for each in better.runs),
        none=None if better.runs else f"No other run on these labels detects more of {name}.",
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
    interval = f"{points_alone(gain.low)} to {points_alone(gain.high)}"
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
        return f"detects more, {p_value(each.p)}"
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
