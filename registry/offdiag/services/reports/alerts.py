"""Conditions of alerts as people write them: `recall[df]<0.5`, `log_loss>1`."""

from __future__ import annotations

import json
import re

from offdiag.errors import InvalidInput
from offdiag.flags.verdict import Sign
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.gate.conditions import Side as GateSide
from offdiag.reports.scope import Condition, Side

_SIDES = {
    Sign.BELOW: Side.BELOW,
    Sign.AT_MOST: Side.BELOW,
    Sign.ABOVE: Side.ABOVE,
    Sign.AT_LEAST: Side.ABOVE,
}


_HOW = "Write a metric, < or >, and a limit, such as 'recall[df]<0.5'."
_WRITTEN_SIDES = {Side.BELOW: "<", Side.ABOVE: ">"}
_NEEDS_QUOTES = re.compile(r"""[][\\"\x00-\x1f]""")


def alert_text(condition: Condition) -> str:
    """A condition as people write it, which `alert_condition` reads back."""
    label = condition.class_label
    if label is None:
        where = ""
    elif not label or _NEEDS_QUOTES.search(label):
        where = f"[{json.dumps(label, ensure_ascii=False)}]"
    else:
        where = f"[{label}]"
    return f"{condition.metric}{where}{_WRITTEN_SIDES[condition.side]}{condition.limit!r}"


def alert_condition(text: str) -> Condition:
    """The condition a text stands for, in the language of `offdiag gate`.

    Raises `InvalidInput` for what an alert cannot be about. An alert looks at the whole
    interval anyway, so there is no need to name an end of it.
    """
    try:
        parsed = parse_condition(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="alerts", hint=_HOW) from None
    if (
        not isinstance(parsed, MetricCondition)
        or parsed.side is not GateSide.VALUE
        or parsed.of_difference
        or parsed.sign not in _SIDES
    ):
        raise InvalidInput(
            f"{text!r} is no condition of an alert.",
            field="alerts",
            hint=_HOW,
        )
    return Condition(parsed.key, _SIDES[parsed.sign], parsed.threshold, parsed.class_label)
