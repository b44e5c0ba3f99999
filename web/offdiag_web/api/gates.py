"""Gates."""

from __future__ import annotations

from offdiag.domain.access import Role
from offdiag.domain.cost_names import CostName
from offdiag.gate.conditions import parse_condition
from offdiag.records.gate import Gate, GateAsked, gate_document
from offdiag.services.flags.rules import thresholds_in
from offdiag.services.gate import StatedCosts, gate_run
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

blueprint = resource("gates")


@operation(blueprint, "POST", "/runs/<run:run_id>/gate", answers=Gate)
@requires(Role.VIEWER)
def check_gate(run_id: str, json: GateAsked) -> Gate:
    """Check a run with conditions on its metrics, flags and differences to a baseline.

    Nothing is stored. Until the run is evaluated the response is 409 with the code
    `evaluation_pending`.
    """
    registry = current_registry()
    costs: StatedCosts | CostName | None = None
    if json.weights is not None:
        costs = StatedCosts(json.weights, json.currency)
    elif json.cost_matrix is not None:
        costs = CostName.parse(json.cost_matrix)
    found = gate_run(
        registry.database,
        run_id,
        [parse_condition(text) for text in json.conditions],
        baseline_id=json.baseline,
        costs=costs,
        thresholds=thresholds_in(registry.settings.flags),
        timeout_s=0,
        lease_s=registry.settings.jobs.lease_s,
        policy=RetryPolicy(max_attempts=registry.settings.jobs.max_attempts),
    )
    return gate_document(found)
