"""What other answers to the cases of a run change: as tables for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.cost_text import per_thousand
from offdiag.cli.tables import MOST_CLASSES, facts_table, open_table
from offdiag.cli.text import label, printable
from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.decisions import ThresholdRule
from offdiag.services.decisions.saving import Trial
from offdiag.store.runs import RunRecord


def decision_tables(trial: Trial) -> Iterator[Table]:
    """The rule, both costs, and the recall of each class before and after."""
    change, joint = trial.change, trial.change.joint
    n_changed = int(joint.counts[joint.first != joint.second].sum())
    unit = trial.pricing.costs.currency
    yield facts_table(
        printable(f"{trial.run.name} ({trial.run.id}), decided by cost"),
        {
            "rule": _rule_text(trial),
            "costs": f"{trial.recipe.get('costs', 'as stated')}{f', in {unit}' if unit else ''}",
            "answers changed": f"{n_changed:,} of {joint.total:,}",
            "cost per 1,000 before": per_thousand(change.before),
            "cost per 1,000 after": per_thousand(change.after),
            "difference": per_thousand(change.difference, signed=True),
        },
    )
    cut = f", the first {MOST_CLASSES}" if len(change.classes) > MOST_CLASSES else ""
    table = open_table(title=f"Recall of each class{cut}")
    for name in ("class", "n", "before", "after", "change", "95 % interval"):
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


def decision_record(trial: Trial, saved: RunRecord | None) -> dict[str, Any]:
    """The same in full precision, with the run that was saved."""
    change = trial.change
    return {
        "run": trial.run.id,
        "recipe": dict(trial.recipe),
        "mean_cost_before": change.before.to_dict(),
        "mean_cost_after": change.after.to_dict(),
        "difference": change.difference.to_dict(),
        "labels": list(trial.run.matrix.labels.names),
        "matrix_before": change.joint.first_matrix.counts.tolist(),
        "matrix_after": change.joint.second_matrix.counts.tolist(),
        "recall": [
            {
                "label": each.label,
                "support": each.support,
                "before": each.before.to_dict(),
                "after": each.after.to_dict(),
                "difference": each.difference.to_dict(),
                "simultaneous_interval": each.simultaneous_record,
                "is_significant": each.is_significant,
            }
            for each in change.classes
        ],
        "saved": None if saved is None else {"id": saved.id, "name": saved.name},
    }


def _rule_text(trial: Trial) -> str:
    if not isinstance(trial.rule, ThresholdRule):
        return "the answer that is cheapest to expect"
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
