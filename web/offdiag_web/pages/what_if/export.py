"""The answer to a question about costs for machines, in full precision."""

from __future__ import annotations

from offdiag.comparison.texts import run_label
from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.costs import Choice, PricedAnswer, WhatIf
from offdiag.services.what_if.record import price_record, scenario_record
from offdiag_web.app.exports import Cell
from offdiag_web.pages.what_if.choice import lever_text
from offdiag_web.urls.what_if import WhatIfAddress

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
            run_label(place),
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
            each.place.behind.value,
            each.place.behind.ci_low,
            each.place.behind.ci_high,
            each.place.behind.ci_method,
            each.ratio.value,
        )
        for place, each in enumerate(found.answers)
    ]


def what_if_record(found: WhatIf, address: WhatIfAddress) -> dict[str, object]:
    """The whole answer as one JSON document."""
    scenario = found.scenario
    labels = scenario.costs.labels
    return {
        "url": address.url(),
        "dataset": found.frame.runs[0].dataset,
        "project": found.frame.runs[0].project,
        "labels": list(labels.names),
        "set": scenario.edits.text(labels),
        **scenario_record(found),
        "ignored": list(scenario.problems),
        "runs": [_run(place, each) for place, each in enumerate(found.answers)],
        "choice": None if found.choice is None else _choice(found, found.choice),
    }


def _run(place: int, each: PricedAnswer) -> dict[str, object]:
    return {
        "letter": run_label(place),
        "id": each.run.id,
        "name": each.run.name,
        "model": each.run.model,
        **price_record(each),
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
                "cheapest": [run_label(choice.runs[place]) for place in stretch.cheapest],
            }
            for stretch in choice.stretches
        ],
    }
