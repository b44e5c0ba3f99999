"""Cost matrices, costs of runs, what-if scenarios, and decisions by cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from offdiag.domain.access import Role
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.edits import written
from offdiag.records import what_if as records
from offdiag.records.base import Value, values_of
from offdiag.records.cost import (
    CostList,
    Costs,
    CostsQuery,
    CostsWithVersions,
    CostVersion,
    CostVersionQuery,
    NewCosts,
    asked_cost_list,
    asked_new_costs,
    weights_by_class,
)
from offdiag.records.decision import (
    DecisionRequest,
    DecisionResponse,
    RuleRequest,
    TriedRule,
    asked_decision,
    tried_rule,
)
from offdiag.records.runs.multilabel import LabelCostsFound, LabelCostsRequest, asked_label_costs
from offdiag.records.what_if import CostsOfRuns, CostsRequest, asked_costs
from offdiag.services.cost_matrices import browse_cost_matrix
from offdiag.services.decisions.rules import try_asked_rule
from offdiag.services.what_if.costs import ask
from offdiag.services.what_if.runs import Question
from offdiag.services.what_if.scenario_matrix import Change, Recounted, recount, require_one_kind
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import current_registry, requires

blueprint = resource("costs")


@operation(blueprint, "GET", "/costs")
def compare_costs(query: CostsRequest) -> CostsOfRuns:
    """Read what the errors of runs cost, compared with the best constant prediction."""
    return asked_costs(current_registry().database, query)


@operation(blueprint, "POST", "/runs/<run:run_id>/rules", statuses=(200, 201))
@requires(Role.LOGGER)
def try_rule(run_id: str, json: RuleRequest) -> tuple[TriedRule, int]:
    """Apply a decision rule by cost to the scores of a run, and read what changes.

    Without `save_as`, nothing is stored. With it, the predictions are stored as a run, and the
    response has status 201; repeating the same rule returns the same run.
    """
    trial, saved = try_asked_rule(
        current_registry().database,
        run_id,
        costs=json.costs,
        shares=json.shares,
        threshold=json.threshold,
        positive=json.positive,
        save_as=json.save_as,
        author=author(json.author),
    )
    return tried_rule(trial, saved), 200 if saved is None else 201


@operation(blueprint, "POST", "/runs/<run:run_id>/label-costs")
@requires(Role.VIEWER)
def price_labels(run_id: str, json: LabelCostsRequest) -> LabelCostsFound:
    """Read what the errors of a multi-label run cost by label, and which thresholds cost least.

    Nothing is stored.
    """
    return asked_label_costs(current_registry().database, run_id, json)


@operation(blueprint, "GET", "/cost-matrices")
def list_cost_matrices(query: CostsQuery) -> CostList:
    """Read the newest version of each cost matrix."""
    return asked_cost_list(current_registry().database, query)


@operation(blueprint, "GET", "/cost-matrices/<name:name>")
def get_cost_matrix(name: str, query: CostVersionQuery) -> CostsWithVersions:
    """Read a version of a cost matrix, by default the newest."""
    found = browse_cost_matrix(
        current_registry().database, project=query.project, name=name, version=query.version
    )
    versions = list(map(CostVersion.made_of, found.versions))
    return CostsWithVersions(**found.shown.to_dict(), versions=versions)


@operation(blueprint, "POST", "/cost-matrices", statuses=(201,), is_repeatable=True)
def add_cost_matrix(json: NewCosts) -> tuple[Costs, int]:
    """Store a cost matrix as a new version of its name. If the costs equal the newest version,
    that version is returned.
    """
    weights = weights_by_class(json.weights, json.labels)
    database = current_registry().database
    return asked_new_costs(database, json, weights, author(json.author)), 201


@operation(blueprint, "POST", "/whatif")
@requires(Role.VIEWER)
def what_if(json: records.WhatIfRequest) -> records.WhatIfResponse:
    """Compute the metrics and costs of runs in a scenario. Nothing is stored. Everything is
    recomputed from stored matrices, and for a threshold from stored counts of the scores.
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
    return records.WhatIfResponse(runs=list(map(_recounted, found)), costs=_costs(json))


def _recounted(found: Recounted) -> records.Recounted:
    return records.Recounted(
        run=found.run_id,
        labels=list(found.labels.names),
        orientation=SourceOrientation.ACTUAL_ROWS,
        matrix=found.counts.tolist(),
        aggregate=values_of(found.aggregate),
        per_class={
            key: [Value.made_of(value) for value in each] for key, each in found.per_class.items()
        },
        threshold=found.threshold,
    )


def _costs(asked: records.WhatIfRequest) -> records.CostsOfRuns | None:
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
    if found.scenario.problems:
        raise InvalidInput(
            found.scenario.problems[0].rstrip("."),
            field="costs",
            hint="Correct it; nothing is left out of a question.",
        )
    return records.costs_of_runs(found)


def _shares_text(shares: Mapping[str, float]) -> str:
    return ",".join(f"{written(label)}:{share!r}" for label, share in shares.items())


def _groups_text(groups: Iterable[list[str]]) -> str:
    return ",".join("|".join(map(written, members)) for members in groups if len(members) > 1)


_MOST_BYTES = 32 << 20
"""Bytes of a body, enough for the weights of a thousand classes."""


@operation(
    blueprint, "POST", "/runs/<run:run_id>/decisions", statuses=(200, 201), most_bytes=_MOST_BYTES
)
@requires(Role.LOGGER)
def decide_anew(run_id: str, json: DecisionRequest) -> tuple[DecisionResponse, int]:
    """Apply a decision rule by cost or threshold to an evaluated run, and read what changes.
    Without `save_as`, nothing is stored. With it, the predictions are stored as a run, and the
    response has status 201; repeating the same rule returns the same run.
    """
    found = asked_decision(current_registry().database, run_id, json, author(json.author))
    return found, 200 if found.run is None else 201
