"""Gates: conditions that a run is checked with, and what they found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.records.base import RequestBody, ResponseBody
from offdiag.records.cost import Weights

if TYPE_CHECKING:
    from offdiag.services.gate import GateResult


class GateAsked(RequestBody):
    """The conditions that a run is checked with."""

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
        default=None, description="Costs in its place: `{actual: {predicted: cost}}`."
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
    """What a gate found."""

    passed: bool
    run: str | None
    baseline: str | None
    champion: str | None = Field(default=None, description="Id of the champion of the dataset.")
    not_paired: str | None = Field(
        description="Why the run was not compared with its baseline example by example."
    )
    conditions: list[CheckedCondition]


def gate_document(found: GateResult) -> Gate:
    """What a gate found."""
    return Gate.model_validate(found.to_dict())
