"""Costs, runs ordered by cost and decision rules: as tables for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import MOST_CLASSES, facts_table, open_table
from offdiag.cli.text import label, printable
from offdiag.comparison.texts import run_label
from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.break_even import Lever
from offdiag.metrics.costs.decisions import ThresholdRule
from offdiag.metrics.costs.edits import cost_text
from offdiag.services.decisions.rules import Trial
from offdiag.services.what_if.costs import Choice, WhatIf
from offdiag.store.cost_matrices import CostMatrixRecord

PER = 1_000
"""Costs are shown for so many examples: mean costs are often too small to read."""


def per_thousand(value: MetricValue, *, signed: bool = False) -> str:
    """A mean cost as cost per 1,000 examples with its interval, or why there is none."""
    if value.value is None:
        return f"undefined ({value.reason})"
    sign = "+" if signed else ""
    text = f"{value.value * PER:{sign},.4g}"
    if value.ci_low is None or value.ci_high is None:
        return text
    low, high = (f"{end * PER:{sign},.4g}" for end in (value.ci_low, value.ci_high))
    return f"{text} [{low}, {high}]"


def cost_table(found: CostMatrixRecord) -> Table:
    """The cost of predicting each class, by actual class."""
    names = [label(name) for name in found.costs.labels.names]
    unit = "" if found.costs.currency is None else f", in {found.costs.currency}"
    table = open_table(
        title=printable(f"{found.name}@{found.version}: cost of each prediction{unit}"),
        caption=None if found.note is None else printable(found.note),
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    for name, costs in zip(names, found.costs.weights.tolist(), strict=True):
        table.add_row(Text(name), *(f"{cost:g}" for cost in costs))
    return table


_VERDICTS = {
    "cheapest": "cheapest",
    "dearer": "costs more",
    "open": "no significant difference",
    "not paired": "not paired",
    "not tested": "not tested",
}


def ranking_tables(found: WhatIf) -> Iterator[Table]:
    """The runs, the cheapest first, and where the choice flips."""
    scenario, first = found.scenario, found.frame.runs[0]
    unit = "" if scenario.costs.currency is None else f" in {scenario.costs.currency}"
    changed = ", changed" if scenario.edits else ""
    table = open_table(
        title=printable(
            f"{first.dataset}: cost per 1,000 examples{unit} by {scenario.base.reference}{changed}"
        ),
        caption="Brackets: 95 % CI; of differences simultaneous over all runs, paired by example.",
    )
    for name in ("", "run", "id", "cost", "more than the cheapest", "", "by accuracy"):
        table.add_column(name, justify="left" if name in {"", "run", "id"} else "right")
    for place in cheapest_first(found):
        table.add_row(*_cells(found, place))
    if found.constant is not None:
        answer = scenario.costs.labels.names[found.constant.code]
        table.add_row("", Text(f"always {label(answer)}"), "", _number(found.constant.mean))
    yield table
    if found.choice is not None and scenario.lever is not None and len(found.choice.runs) > 1:
        yield _choice_table(found, found.choice, scenario.lever)


def cheapest_first(found: WhatIf) -> list[int]:
    """Places of the runs in the order of their cost."""
    places = range(len(found.answers))
    return sorted(places, key=lambda place: (found.answers[place].rank or len(places) + 1, place))


def _cells(found: WhatIf, place: int) -> list[str | Text]:
    each = found.answers[place]
    said = each.place.verdict
    behind = "" if said == "cheapest" else per_thousand(each.place.behind, signed=True)
    rival = each.place.compared_with
    if rival is not None and found.answers[rival].place.verdict != "cheapest":
        behind += f" vs {run_label(rival)}"
    return [
        run_label(place),
        Text(label(each.run.name)),
        each.run.id,
        per_thousand(each.mean),
        behind,
        _VERDICTS[said] if each.rank is not None else "",
        "" if each.rank_by_accuracy is None else str(each.rank_by_accuracy),
    ]


def _number(cost: float) -> str:
    return f"{cost * PER:,.4g}"


def _choice_table(found: WhatIf, choice: Choice, lever: Lever) -> Table:
    names = found.scenario.costs.labels.names
    what = f"all errors on {label(names[lever.actual])} cost so many times what they do"
    if lever.predicted is not None:
        what = (
            f"{label(names[lever.actual])} predicted {label(names[lever.predicted])} costs so "
            f"many times {cost_text(lever.unit)}"
        )
    table = open_table(title=f"Cheapest where {what}; {lever.now:.3g} now")
    for name in ("from", "to", "cheapest"):
        table.add_column(name, justify="left" if name == "cheapest" else "right")
    for stretch in choice.stretches:
        run_labels = ", ".join(run_label(choice.runs[place]) for place in stretch.cheapest)
        table.add_row(f"{stretch.low:.4g}", f"{stretch.high:.4g}", run_labels)
    return table


def decision_tables(trial: Trial) -> Iterator[Table]:
    """The rule, both costs, and the recall of each class before and after."""
    change, joint = trial.change, trial.change.joint
    n_changed = int(joint.counts[joint.first != joint.second].sum())
    unit = trial.cost_basis.costs.currency
    yield facts_table(
        printable(f"{trial.run.name} ({trial.run.id}), decided by cost"),
        {
            "rule": _rule_text(trial),
            "costs": f"{trial.recipe.get('costs', 'as stated')}{f', in {unit}' if unit else ''}",
            "changed predictions": f"{n_changed:,} of {joint.total:,}",
            "cost per 1,000 before": per_thousand(change.before),
            "cost per 1,000 after": per_thousand(change.after),
            "difference": per_thousand(change.difference, signed=True),
        },
    )
    cut = f", the first {MOST_CLASSES}" if len(change.classes) > MOST_CLASSES else ""
    table = open_table(title=f"Recall of each class{cut}")
    for name in ("class", "examples", "before", "after", "change", "95 % CI"):
        table.add_column(name, justify="left" if name == "class" else "right")
    for each in change.classes[:MOST_CLASSES]:
        table.add_row(
            Text(label(each.label)),
            f"{each.support:,}",
            _share(each.before),
            _share(each.after),
            "" if each.difference.value is None else f"{each.difference.value:+.3f}",
            _interval(each.difference),
        )
    yield table


def _rule_text(trial: Trial) -> str:
    if not isinstance(trial.rule, ThresholdRule):
        return "the prediction with the lowest expected cost"
    if trial.rule.threshold is None:
        return f"never {trial.rule.positive_label}"
    chosen = trial.recipe.get("chosen")
    where = f"{trial.rule.positive_label} from a score of {trial.rule.threshold:.6g} on"
    return f"{where}, {chosen}, so rather optimistic" if chosen else where


def _share(value: MetricValue) -> str:
    return "undefined" if value.value is None else f"{value.value:.3f}"


def _interval(value: MetricValue) -> str:
    if value.ci_low is None or value.ci_high is None:
        return ""
    return f"{value.ci_low:+.3f} to {value.ci_high:+.3f}"
