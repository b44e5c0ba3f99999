"""Conditions of alerts as people write them: `recall[df]<0.5`, `log_loss>1`."""

from __future__ import annotations

from offdiag.errors import InvalidInput
from offdiag.flags.verdict import Sign
from offdiag.gate.conditions import MetricCondition
from offdiag.gate.conditions import Side as GateSide
from offdiag.gate.parsing import parse_condition
from offdiag.reports.scope import Condition, Side

_SIDES = {
    Sign.BELOW: Side.BELOW,
    Sign.AT_MOST: Side.BELOW,
    Sign.ABOVE: Side.ABOVE,
    Sign.AT_LEAST: Side.ABOVE,
}


def alert_condition(text: str) -> Condition:
    """The condition a text stands for, in the language of `offdiag gate`.

    Raises `InvalidInput` for what an alert cannot be about. An alert looks at the whole
    interval anyway, so there is no need to name an end of it.
    """
    parsed = parse_condition(text)
    if (
        not isinstance(parsed, MetricCondition)
        or parsed.side is not GateSide.VALUE
        or parsed.of_difference
        or parsed.sign not in _SIDES
    ):
        raise InvalidInput(
            f"{text!r} is no condition of an alert.",
            field="alerts",
            hint="Write a metric, < or >, and a limit, such as 'recall[df]<0.5'.",
        )
    return Condition(parsed.key, _SIDES[parsed.sign], parsed.threshold, parsed.class_label)
