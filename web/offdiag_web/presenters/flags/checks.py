"""What fired: every threshold beside its measured value, also of rules that kept silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offdiag.flags.catalogue import RULES
from offdiag.flags.verdict import Condition, Sign
from offdiag.services.flags.detail import FlagDetail
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.flags.words import rule_title
from offdiag_web.presenters.numbers import MINUS

CHECK_COLUMNS = ("rule", "class", "fires", "what", "measured", "sign", "threshold", "holds")

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
    """A rule with its conditions; `about` is the class it was asked about, if any."""

    rule: str
    title: str
    about: str | None
    fires: bool
    is_this: bool
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class ChecksView:
    """The rule of the flag first, then all others, and those that nobody could ask."""

    rules: tuple[CheckedRule, ...]
    not_asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Checked:
    rule: str
    class_label: str | None
    fires: bool
    conditions: Sequence[Condition]


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
            for each in _checked(detail)
        ),
        not_asked=_not_asked(detail),
    )


def check_rows(detail: FlagDetail) -> list[tuple[Cell, ...]]:
    """One line for each condition, in the order of `CHECK_COLUMNS`."""
    return [
        (
            each.rule,
            each.class_label,
            "yes" if each.fires else "no",
            condition.what,
            condition.measured,
            condition.sign.value,
            condition.threshold,
            "yes" if condition.holds else "no",
        )
        for each in _checked(detail)
        for condition in each.conditions
    ]


def check_records(detail: FlagDetail) -> list[dict[str, object]]:
    """The same for JSON twins."""
    return [
        {
            "rule": each.rule,
            "class_label": each.class_label,
            "fires": each.fires,
            "conditions": [condition.to_dict() for condition in each.conditions],
        }
        for each in _checked(detail)
    ]


def pair_text(measured: float | None, threshold: float) -> tuple[str, str]:
    """Both as written: with more digits where fewer would make different values look the same."""
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


def _checked(detail: FlagDetail) -> list[_Checked]:
    """The rule of the flag with what it measured then, the others with what they measure now."""
    content, state = detail.entry.flag.content, detail.entry.flag.standing.state
    own = _Checked(
        content.rule,
        content.class_label,
        fires=state.value != "closed",
        conditions=[_condition(each) for each in content.fired],
    )
    others = [
        _Checked(each.rule, each.class_label, each.fires, each.conditions)
        for each in detail.checks
        if each.rule != content.rule
    ]
    # What fires is news; the order of the ids stands within both parts.
    return [own, *sorted(others, key=lambda each: not each.fires)]


def _condition(stored: Mapping[str, Any]) -> Condition:
    return Condition(
        what=stored["what"],
        measured=stored["measured"],
        sign=Sign(stored["sign"]),
        threshold=stored["threshold"],
        holds=stored["holds"],
    )


def _comparison(condition: Condition) -> Comparison:
    measured, threshold = pair_text(condition.measured, condition.threshold)
    return Comparison(
        what=condition.what,
        measured=measured,
        threshold=f"{_SIGNS[condition.sign]} {threshold}",
        holds=condition.holds,
    )


def _not_asked(detail: FlagDetail) -> tuple[str, ...]:
    """Rules that lack what they look at, and what that is."""
    results, this = detail.results, detail.entry.flag.content.rule
    if results is None:
        return ()
    missing = {}
    if results.cost_matrix_id is None:
        missing["F11"] = "the dataset has no default costs"
    if results.baseline_run_id is None:
        missing["F14"] = "the dataset has no baseline, or this run is it"
    return tuple(
        f"{rule} {RULES[rule].title}: {why}." for rule, why in missing.items() if rule != this
    )
