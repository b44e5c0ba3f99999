"""The answer to a question about costs as plain Python values, in full precision."""

from __future__ import annotations

from typing import Any

from offdiag.comparison.texts import run_label
from offdiag.services.what_if.costs import PredictionCost, WhatIf


def scenario_record(found: WhatIf) -> dict[str, Any]:
    """What was priced by what: the cost matrix as edited, and what a reader must know of it."""
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
        "left_out": [{"run": run_id, "reason": why} for run_id, why in found.frame.left_out],
    }


def cost_record(each: PredictionCost) -> dict[str, Any]:
    """What one run costs, and its place among the others."""
    return {
        "rank": each.rank,
        "rank_by_accuracy": each.rank_by_accuracy,
        "accuracy": each.accuracy,
        "total_cost": each.total.to_dict(),
        "mean_cost": each.mean.to_dict(),
        "more_than_cheapest": each.place.behind.to_dict(),
        "verdict": each.place.verdict,
        "compared_with": None
        if each.place.compared_with is None
        else run_label(each.place.compared_with),
        "ratio_to_best_constant": each.ratio.to_dict(),
    }
