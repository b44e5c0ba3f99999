"""Questions that begin with "what if"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from offdiag.domain.access import Role
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.edits import written
from offdiag.records import cost as records
from offdiag.records.base import Value, values_of
from offdiag.services.what_if.costs import WhatIf, ask
from offdiag.services.what_if.scenario import Question
from offdiag.services.what_if.scenario_matrix import Change, Recounted, recount, require_one_kind
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

blueprint = resource("what_if")


@operation(blueprint, "POST", "/whatif", answers=records.WhatIfAnswer)
@requires(Role.VIEWER)
def what_if(json: records.WhatIfAsked) -> records.WhatIfAnswer:
    """Work out what runs would measure and cost if something were different.

    Nothing is stored. Everything is recomputed from stored matrices, and for a threshold from
    stored counts of the scores.
    """
    change = Change(
        positive=json.positive,
        threshold=json.threshold,
        merged=json.merge,
        swaps_positive=json.swap_positive,
        prevalence=json.prevalence,
    )
    require_one_kind(change)
    database = current_registry().database
    found = [recount(database, run_id, change) for run_id in dict.fromkeys(json.runs)]
    return records.WhatIfAnswer(runs=list(map(_recounted, found)), costs=_costs(json))


def _recounted(found: Recounted) -> records.Recounted:
    return records.Recounted(
        run=found.run_id,
        labels=list(found.labels.names),
        orientation=SourceOrientation.ACTUAL_ROWS,
        matrix=found.counts.tolist(),
        aggregate=values_of(found.aggregate),
        per_class={
            key: [Value.of(value) for value in each] for key, each in found.per_class.items()
        },
        threshold=found.threshold,
    )


def _costs(asked: records.WhatIfAsked) -> records.CostsOfRuns | None:
    if asked.costs is None:
        return None
    is_merged_and_shared = bool(asked.merge) and asked.prevalence is not None
    if asked.threshold is not None or asked.swap_positive or is_merged_and_shared:
        raise InvalidInput(
            "costs are about the classes as they were logged.",
            field="costs",
            hint="Ask for them without a threshold, without exchanging classes, and with either "
            "merged classes or a prevalence.",
        )
    found = ask(
        current_registry().database,
        asked.runs,
        Question(
            costs=asked.costs.base,
            edits=asked.costs.edits,
            lever=asked.costs.vary,
            shares=_shares_text(asked.prevalence or {}),
            merged=_groups_text(asked.merge.values()),
        ),
    )
    _require_understood(found)
    return records.costs_of_runs(found)


def _require_understood(found: WhatIf) -> None:
    if found.scenario.problems:
        raise InvalidInput(
            found.scenario.problems[0].rstrip("."),
            field="costs",
            hint="Correct it; nothing is left out of a question.",
        )


def _shares_text(shares: Mapping[str, float]) -> str:
    return ",".join(f"{written(label)}:{share!r}" for label, share in shares.items())


def _groups_text(groups: Iterable[list[str]]) -> str:
    return ",".join("|".join(map(written, members)) for members in groups if len(members) > 1)
