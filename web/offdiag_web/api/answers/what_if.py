"""What runs cost under changed costs, as it travels."""

from __future__ import annotations

import math
from typing import Any

from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.answering import Choice, PricedAnswer, WhatIf


def costs_record(found: WhatIf) -> dict[str, Any]:
    scenario = found.scenario
    labels = scenario.costs.labels
    record = scenario.base.record
    return {
        "base": {
            "reference": scenario.base.reference,
            "name": None if record is None else record.name,
            "version": None if record is None else record.version,
        },
        "currency": scenario.costs.currency,
        "edits": scenario.edits.text(labels),
        "weights": {
            actual: dict(zip(labels.names, row, strict=True))
            for actual, row in zip(labels.names, scenario.costs.weights.tolist(), strict=True)
        },
        "prevalence": None
        if scenario.prevalence is None
        else dict(zip(labels.names, scenario.prevalence.tolist(), strict=True)),
        "merged": [[labels.names[code] for code in group] for group in scenario.groups],
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
        "runs": list(map(_run, found.answers)),
        "left_out": [{"run": run_id, "reason": why} for run_id, why in found.frame.left_out],
        "choice": None if found.choice is None else _choice(found, found.choice),
    }


def _run(each: PricedAnswer) -> dict[str, Any]:
    return {
        "run": each.run.id,
        "name": each.run.name,
        "rank": each.rank,
        "rank_by_accuracy": each.rank_by_accuracy,
        "accuracy": each.accuracy,
        "total_cost": each.total.to_dict(),
        "mean_cost": each.mean.to_dict(),
        "more_than_cheapest": each.behind.to_dict(),
        "ratio_to_best_constant": each.ratio.to_dict(),
    }


def _choice(found: WhatIf, choice: Choice) -> dict[str, Any] | None:
    """Which run is the cheapest as one price moves."""
    lever = found.scenario.lever
    if lever is None:
        return None
    names = found.scenario.costs.labels.names
    return {
        "actual": names[lever.actual],
        "predicted": None if lever.predicted is None else names[lever.predicted],
        "unit": cost_text(lever.unit),
        "now": lever.now,
        "stretches": [
            {
                "from": _finite(stretch.low),
                "to": _finite(stretch.high),
                "cheapest": [
                    found.answers[choice.runs[place]].run.id for place in stretch.cheapest
                ],
            }
            for stretch in choice.stretches
        ],
    }


def _finite(bound: float) -> float | None:
    """None for a stretch that never ends."""
    return bound if math.isfinite(bound) else None
