"""The evidence of a flag: what each rule compared, and with which thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.flags.assessment import unchecked_rules
from offdiag.flags.catalogue import RULES
from offdiag.flags.verdict import Condition, Sign
from offdiag.services.flags.page import FlagDetail
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.flags import rule_title
from offdiag_web.components.numbers import MINUS

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


@dataclass(frozen=True, slots=True)
class ChecksView:
    """The rule of the flag first, then all others, and those that could not be checked."""

    rules: tuple[CheckedRule, ...]
    not_asked: tuple[str, ...]


def checks_view(detail: FlagDetail) -> ChecksView:
    """Present what the rules measured."""
    this, task = detail.entry.flag.content.rule, detail.entry.task
    return ChecksView(
        rules=tuple(
            CheckedRule(
                rule=each.rule,
                title=rule_title(each.rule, task),
                about=None if each.class_label is None else quoted_name(each.class_label),
                fires=each.fires,
                is_this=each.rule == this,
                comparisons=tuple(_comparison(condition) for condition in each.conditions),
            )
            for each in detail.checked
        ),
        not_asked=_not_asked(detail),
    )


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


def _comparison(condition: Condition) -> Comparison:
    measured, threshold = pair_text(condition.measured, condition.threshold)
    return Comparison(
        what=condition.what,
        measured=measured,
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
