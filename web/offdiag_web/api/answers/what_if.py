"""What runs cost under changed costs, as it travels."""

from __future__ import annotations

import math
from typing import Any

from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.answering import Choice, PricedAnswer, WhatIf
from offdiag.services.what_if.record import price_record, scenario_record


def costs_record(found: WhatIf) -> dict[str, Any]:
    return {
        **scenario_record(found),
        "edits": found.scenario.edits.text(found.scenario.costs.labels),
        "runs": list(map(_run, found.answers)),
        "choice": None if found.choice is None else _choice(found, found.choice),
    }


def _run(each: PricedAnswer) -> dict[str, Any]:
    return {"run": each.run.id, "name": each.run.name, **price_record(each)}


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
