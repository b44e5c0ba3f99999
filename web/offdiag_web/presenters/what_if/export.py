"""The answer to a question about costs for machines, in full precision."""

from __future__ import annotations

from offdiag.comparison.letters import letter
from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.answering import Choice, PricedAnswer, WhatIf
from offdiag_web.addresses.what_if import WhatIfAddress
from offdiag_web.exports import Cell
from offdiag_web.presenters.what_if.choice import lever_text

RANKING_COLUMNS = (
    *("letter", "run", "name", "model", "rank", "rank_by_accuracy", "accuracy"),
    *("total_cost", "mean_cost", "mean_cost_ci_low", "mean_cost_ci_high", "reason"),
    *("more_than_cheapest", "more_ci_low", "more_ci_high", "more_ci_method"),
    "ratio_to_best_constant",
)


def ranking_rows(found: WhatIf) -> list[tuple[Cell, ...]]:
    """One line for each run, in the order of the address."""
    return [
        (
            letter(place),
            each.run.id,
            each.run.name,
            each.run.model,
            each.rank,
            each.rank_by_accuracy,
            each.accuracy,
            each.total.value,
            each.mean.value,
            each.mean.ci_low,
            each.mean.ci_high,
            each.mean.reason,
            each.behind.value,
            each.behind.ci_low,
            each.behind.ci_high,
            each.behind.ci_method,
            each.ratio.value,
        )
        for place, each in enumerate(found.answers)
    ]


def what_if_record(found: WhatIf, address: WhatIfAddress) -> dict[str, object]:
    """The whole answer as one JSON document."""
    scenario = found.scenario
    labels = scenario.costs.labels
    record = scenario.base.record
    return {
        "url": address.url(),
        "dataset": found.frame.runs[0].dataset,
        "project": found.frame.runs[0].project,
        "labels": list(labels.names),
        "base": {
            "reference": scenario.base.reference,
            "name": None if record is None else record.name,
            "version": None if record is None else record.version,
        },
        "currency": scenario.costs.currency,
        "set": scenario.edits.text(labels),
        "weights": {
            actual: dict(zip(labels.names, row, strict=True))
            for actual, row in zip(labels.names, scenario.costs.weights.tolist(), strict=True)
        },
        "prevalence": None
        if scenario.prevalence is None
        else dict(zip(labels.names, scenario.prevalence.tolist(), strict=True)),
        "merged": [[labels.names[code] for code in group] for group in scenario.groups],
        "ignored": list(scenario.problems),
        "warnings": [
            {
                "oddity": warning.oddity.value,
                "classes": [labels.names[code] for code in warning.classes],
            }
            for warning in found.warnings
        ],
        "best_constant": None
        if found.constant is None
        else {"label": labels.names[found.constant.code], "mean_cost": found.constant.mean},
        "runs": [_run(place, each) for place, each in enumerate(found.answers)],
        "left_out": [{"run": run_id, "reason": why} for run_id, why in found.frame.left_out],
        "choice": None if found.choice is None else _choice(found, found.choice),
    }


def _run(place: int, each: PricedAnswer) -> dict[str, object]:
    return {
        "letter": letter(place),
        "id": each.run.id,
        "name": each.run.name,
        "model": each.run.model,
        "rank": each.rank,
        "rank_by_accuracy": each.rank_by_accuracy,
        "accuracy": each.accuracy,
        "total_cost": each.total.to_dict(),
        "mean_cost": each.mean.to_dict(),
        "more_than_cheapest": each.behind.to_dict(),
        "ratio_to_best_constant": each.ratio.to_dict(),
    }


def _choice(found: WhatIf, choice: Choice) -> dict[str, object]:
    lever = found.scenario.lever
    assert lever is not None  # noqa: S101  # There is no choice without one.
    return {
        "vary": lever_text(lever, found.scenario.costs.labels),
        "unit": cost_text(lever.unit),
        "now": lever.now,
        "stretches": [
            {
                "from": stretch.low,
                "to": stretch.high,
                "cheapest": [letter(choice.runs[place]) for place in stretch.cheapest],
            }
            for stretch in choice.stretches
        ],
    }
