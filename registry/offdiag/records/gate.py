"""Gates: conditions for a run, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.errors import InvalidInput
from offdiag.records.base import RequestBody, ResponseBody
from offdiag.records.cost import Weights

if TYPE_CHECKING:
    from offdiag.domain.texts import CostName
    from offdiag.services.gates.gate import GateResult, StatedCosts
    from offdiag.settings import Settings
    from offdiag.store.database import Database


class GateRequest(RequestBody):
    """Conditions to check a run with."""

    conditions: list[str] = Field(
        min_length=1,
        max_length=200,
        examples=[["recall[mel]>=0.8", "low(mcc)>=0.5", "recall[mel]@site=z>=0.7", "no-warning"]],
    )
    baseline: str | None = Field(
        default=None,
        description="Id of the run to compare with, or `champion`; by default the baseline of "
        "the dataset.",
    )
    cost_matrix: str | None = Field(
        default=None, description="`visits` or `visits@2`; by default that of the dataset."
    )
    weights: Weights | None = Field(
        default=None,
        description="Costs instead of a stored matrix: `{actual: {predicted: cost}}`.",
    )
    currency: str | None = Field(default=None, max_length=20)


class CheckedCondition(ResponseBody):
    """A condition with the number that was compared, or the reason why there is none."""

    condition: str
    passed: bool
    measured: float | None
    reason: str | None
    value: dict[str, Any] | None = Field(description="The value with its interval.")
    note: str


class Gate(ResponseBody):
    """The result of a gate."""

    passed: bool
    run: str | None
    baseline: str | None
    champion: str | None = Field(default=None, description="Id of the champion of the dataset.")
    not_paired: str | None = Field(
        description="Why the run was not compared with its baseline example by example."
    )
    conditions: list[CheckedCondition]


def asked_gate(
    database: Database, run_id: str, asked: GateRequest, settings: Settings, *, timeout_s: float
) -> Gate:
    """Check a run, waiting up to `timeout_s` for its evaluation. Raises as `gate_run` does."""
    from offdiag.domain.texts import CostName
    from offdiag.gate.conditions import parse_condition
    from offdiag.services.gates.gate import StatedCosts, gate_run

    if asked.weights is not None and asked.cost_matrix is not None:
        raise InvalidInput(
            "both costs and the name of a cost matrix are given.",
            field="cost_matrix",
            hint="Send weights or cost_matrix.",
        )
    costs: StatedCosts | CostName | None = None
    if asked.weights is not None:
        costs = StatedCosts(asked.weights, asked.currency)
    elif asked.cost_matrix is not None:
        costs = CostName.parse(asked.cost_matrix)
    found = gate_run(
        database,
        run_id,
        [parse_condition(text) for text in asked.conditions],
        baseline_id=asked.baseline,
        costs=costs,
        settings=settings,
        timeout_s=timeout_s,
    )
    return gate_document(found)


def gate_document(found: GateResult) -> Gate:
    """The result of a gate as a document."""
    return Gate.model_validate(found.to_dict())
