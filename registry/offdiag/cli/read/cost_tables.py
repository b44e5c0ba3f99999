"""Tables of cost matrices, runs ranked by cost, and decision rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.table import Table

from offdiag.cli.output import label, three_decimals
from offdiag.cli.tables import MOST_CLASSES, facts_table, filled_table
from offdiag.domain.number_text import Amounts, amounts_for, cost, signed
from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostChange
from offdiag.metrics.metric_text import PER_CASES
from offdiag.records.base import Value
from offdiag.records.cost import Costs
from offdiag.records.decision import TriedRule
from offdiag.records.runs.multilabel import LabelCostsFound, LabelCostTexts, label_cost_texts
from offdiag.records.what_if import CheapestAsOneCostMoves, CostOfRun, CostsOfRuns

_MOST_LISTED = 5


def per_thousand(value: Value, write: Callable[[float], str]) -> str:
    """A mean cost as cost per 1,000 examples with its interval, or why there is none."""
    if value.value is None:
        return value.measured().undefined_text
    text = write(value.value * PER_CASES)
    if value.ci_low is None or value.ci_high is None:
        return text
    return f"{text} [{write(value.ci_low * PER_CASES)}, {write(value.ci_high * PER_CASES)}]"


def _amounts(*costs: float | None) -> Amounts:
    """The format of neighbouring mean costs per 1,000 examples."""
    return amounts_for(cost * PER_CASES for cost in costs if cost is not None)


def cost_table(found: Costs) -> Table:
    """The cost of predicting each class, by actual class."""
    names = [label(name) for name in found.labels]
    unit = "" if found.currency is None else f", in {found.currency}"
    return filled_table(
        ("actual ↓  predicted →", *names),
        (
            (
                label(actual),
                *(cost_text(found.weights[actual][predicted]) for predicted in found.labels),
            )
            for actual in found.labels
        ),
        right=names,
        title=f"{found.name}@{found.version}: cost of each prediction{unit}",
        caption=found.note,
    )


def list_table(found: Iterable[Costs]) -> Table:
    """The stored cost matrices, one line for each version."""
    return filled_table(
        ("name", "version", "project", "classes", "currency", "note"),
        (
            (
                each.name,
                str(each.version),
                each.project,
                _classes(each.labels),
                each.currency or "",
                each.note or "",
            )
            for each in found
        ),
    )


def _classes(labels: Sequence[str]) -> str:
    shown = ", ".join(label(name) for name in labels[:_MOST_LISTED])
    return f"{shown}, …" if len(labels) > _MOST_LISTED else shown


def difference_table(before: str, after: str, changes: Iterable[CostChange]) -> Table:
    """One line for each cost that differs between two matrices."""
    return filled_table(
        ("actual", "predicted", before, after, "times"),
        (
            (
                label(change.actual),
                label(change.predicted),
                cost_text(change.before),
                cost_text(change.after),
                "" if change.factor is None else cost(change.factor),
            )
            for change in changes
        ),
        right=(before, after, "times"),
    )


_VERDICTS = {
    "cheapest": "cheapest",
    "dearer": "costs more",
    "open": "no significant difference",
    "not paired": "not paired",
    "not tested": "not tested",
}


def ranking_tables(found: CostsOfRuns) -> Iterator[Table]:
    """The runs, cheapest first, and the cheapest runs for other values of the varied cost."""
    unit = "" if found.currency is None else f" in {found.currency}"
    changed = ", changed" if found.edits else ""
    verdicts = {each.letter: each.verdict for each in found.runs}
    constant = None if found.best_constant is None else found.best_constant.mean_cost
    amounts = _amounts(constant, *(each.mean_cost.value for each in found.runs))
    rows: list[tuple[str, ...]] = [_ranking_cells(each, verdicts, amounts) for each in found.runs]
    if found.best_constant is not None:
        cost = amounts.text(found.best_constant.mean_cost * PER_CASES)
        rows.append(("", f"always {label(found.best_constant.label)}", "", cost, "", "", ""))
    yield filled_table(
        ("", "run", "id", "cost", "more than the cheapest", "", "by accuracy"),
        rows,
        right=("cost", "more than the cheapest", "by accuracy"),
        title=f"{found.dataset}: cost per 1,000 examples{unit} by {found.base.reference}{changed}",
        caption="Brackets: 95 % CI; of differences simultaneous over all runs, paired by example.",
    )
    n_defined = sum(each.mean_cost.value is not None for each in found.runs)
    if found.choice is not None and n_defined > 1:
        yield _cheapest_table(found, found.choice)


def _ranking_cells(each: CostOfRun, verdicts: dict[str, str], amounts: Amounts) -> tuple[str, ...]:
    behind = ""
    if each.verdict != "cheapest":
        behind = per_thousand(each.more_than_cheapest, amounts.signed)
    if each.compared_with is not None and verdicts[each.compared_with] != "cheapest":
        behind += f" vs {each.compared_with}"
    return (
        each.letter,
        label(each.name),
        each.run,
        per_thousand(each.mean_cost, amounts.text),
        behind,
        _VERDICTS[each.verdict] if each.rank is not None else "",
        "" if each.rank_by_accuracy is None else str(each.rank_by_accuracy),
    )


def _cheapest_table(found: CostsOfRuns, choice: CheapestAsOneCostMoves) -> Table:
    letters = {each.run: each.letter for each in found.runs}
    what = f"all errors on {label(choice.actual)} cost so many times what they do"
    if choice.predicted is not None:
        what = (
            f"{label(choice.actual)} predicted {label(choice.predicted)} costs so "
            f"many times {choice.unit}"
        )
    return filled_table(
        ("from", "to", "cheapest"),
        (
            (
                _factor_text(stretch["from"]),
                _factor_text(stretch["to"]),
                ", ".join(letters[run] for run in stretch["cheapest"]),
            )
            for stretch in choice.stretches
        ),
        right=("from", "to"),
        title=f"Cheapest where {what}; {cost(choice.now)} now",
    )


def _factor_text(factor: float | None) -> str:
    return "inf" if factor is None else cost(factor)


def decision_tables(found: TriedRule) -> Iterator[Table]:
    """The rule, both costs, and the recall of each class before and after."""
    total = sum(map(sum, found.matrix_before))
    unit = f", in {found.currency}" if found.currency else ""
    amounts = _amounts(found.mean_cost_before.value, found.mean_cost_after.value)
    yield facts_table(
        f"{found.name} ({found.run}), decided by cost",
        {
            "rule": _rule_text(found),
            "costs": f"{found.recipe.get('costs', 'as stated')}{unit}",
            "changed predictions": f"{found.n_changed:,} of {total:,}",
            "cost per 1,000 before": per_thousand(found.mean_cost_before, amounts.text),
            "cost per 1,000 after": per_thousand(found.mean_cost_after, amounts.text),
            "difference": per_thousand(found.difference, amounts.signed),
        },
    )
    cut = f", the first {MOST_CLASSES}" if len(found.recall) > MOST_CLASSES else ""
    numbers = ("examples", "before", "after", "change", "95 % CI")
    yield filled_table(
        ("class", *numbers),
        (
            (
                label(each.label),
                f"{each.support:,}",
                _share(each.before),
                _share(each.after),
                "" if each.difference.value is None else signed(each.difference.value, 3),
                _interval(each.difference),
            )
            for each in found.recall[:MOST_CLASSES]
        ),
        right=numbers,
        title=f"Recall of each class{cut}",
    )


def _rule_text(found: TriedRule) -> str:
    recipe = found.recipe
    if recipe["rule"] != "threshold":
        return "the prediction with the lowest expected cost"
    if recipe["threshold"] is None:
        return f"never {recipe['positive']}"
    chosen = recipe.get("chosen")
    where = f"{recipe['positive']} from a score of {recipe['threshold']:.9g} on"
    if not chosen:
        return where
    return f"{where}, {chosen}, so costs are optimistic and no difference is tested"


def _share(value: Value) -> str:
    if value.value is None:
        return value.measured().undefined_text
    return three_decimals(value.value)


def _interval(value: Value) -> str:
    if value.ci_low is None or value.ci_high is None:
        return ""
    return f"{signed(value.ci_low, 3)} to {signed(value.ci_high, 3)}"


def label_cost_table(found: LabelCostsFound) -> Table:
    """The cost of each label, and its cheapest threshold."""
    numbers = ("n", "missed", "false alarms", "cost", "always/never", "threshold", "expected")
    return filled_table(
        ("label", *numbers),
        (
            (
                label(each.label),
                f"{each.n:,}",
                f"{each.missed:,}",
                f"{each.false_alarms:,}",
                *_label_cost_cells(label_cost_texts(each), each.constant),
            )
            for each in found.labels
        ),
        right=numbers,
        caption="Costs per example. Expected: of the cheapest threshold, on examples it was not "
        "chosen on.",
    )


def _label_cost_cells(texts: LabelCostTexts, constant: str) -> tuple[str, str, str, str]:
    by_constant = f"{texts.constant} ({constant})" if texts.constant else "–"
    return texts.cost, by_constant, texts.threshold, texts.expected
