"""Alert conditions as people write them: `recall[df]<0.5`, `log_loss>1`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from offdiag.domain.slices import column_text, parse_slice, slice_text
from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict, InvalidInput, UnknownKey
from offdiag.filters.conditions import Side as GateSide
from offdiag.flags.verdict import Sign
from offdiag.gate.conditions import MetricCondition, MetricValues, Subject, parse_condition
from offdiag.gate.evaluate_conditions import judge
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.metric_text import in_range_hint, range_of_metric
from offdiag.reports.scope import Condition, Side
from offdiag.services.gates.slices import with_slices
from offdiag.store.database import Database
from offdiag.store.evaluations import evaluation_of_inputs

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
    """A condition as people write it; `alert_condition` reads it."""
    label = condition.class_label
    if label is None:
        where = ""
    elif not label or _NEEDS_QUOTES.search(label):
        where = f"[{json.dumps(label, ensure_ascii=False)}]"
    else:
        where = f"[{label}]"
    what = f"{condition.metric}{where}"
    if condition.over is not None:
        what = f"{condition.over}({what}, by={column_text(condition.by or '')})"
    elif condition.slice is not None:
        what = f"{what}@{slice_text(parse_slice(condition.slice))}"
    return f"{what}{_WRITTEN_SIDES[condition.side]}{condition.limit!r}"


def alert_condition(text: str) -> Condition:
    """Read an alert condition, in the language of `offdiag gate`.

    Raises `InvalidInput` for conditions that alerts do not support. An alert always considers the
    whole interval, so there is no need to name one of its bounds.
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
            f"{text!r} is not a condition of an alert.",
            field="alerts",
            hint=_HOW,
        )
    return Condition(
        parsed.key,
        _SIDES[parsed.sign],
        parsed.threshold,
        parsed.class_label,
        None if parsed.part is None else str(parsed.part),
        None if parsed.over is None else parsed.over.value,
        parsed.by,
    )


def require_in_range(condition: Condition) -> None:
    """Raise `InvalidInput` for a limit that the metric cannot have, as 5 for 5 %.

    Such an alert would be raised for every run, or for none.
    """
    low, high = range_of_metric(condition.metric, condition.class_label)
    what = condition.metric
    if condition.over == "gap":
        low, high, what = 0.0, high - low, f"a gap of {what}"
    if low <= condition.limit <= high:
        return
    raise InvalidInput(
        f"{alert_text(condition)!r} does not depend on the run: {what} is in the range {low:g} to "
        f"{high:g}.",
        field="alerts",
        hint=in_range_hint(condition.limit, low, high),
    )


def values_on_slices(
    database: Database,
    conditions: Sequence[Condition],
    run_id: str,
    digest: str,
    costs: CostMatrix | None,
) -> tuple[tuple[Condition, MetricValue], ...]:
    """The values of a run for conditions on slices; undefined with a reason if there is none.

    `digest` is that of the run's evaluation. Slices that its samples do not have, or that are too
    small, have no value.
    """
    with database.read() as session:
        stored = evaluation_of_inputs(session, run_id, digest)
    if stored is None:
        return ()
    subject = Subject(
        labels=stored.counted.labels,
        values=MetricValues(stored.aggregate, stored.per_class),
        asked=frozenset(),
        counted=stored.counted,
    )
    found = []
    for condition in conditions:
        parsed = parse_condition(alert_text(condition))
        try:
            seen = with_slices(database, subject, [parsed], run_ids=[run_id], costs=costs)
            (finding,) = judge([parsed], seen)
        except (Conflict, InvalidInput, UnknownKey) as error:
            value = MetricValue(None, error.message.removesuffix("."))
        else:
            value = finding.value or MetricValue(None, finding.reason)
        found.append((condition, value))
    return tuple(found)
