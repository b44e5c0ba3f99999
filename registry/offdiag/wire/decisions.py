"""Cases of a run decided anew from their scores, and what that changes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.wire.bodies import Answered, Asked
from offdiag.wire.costs import Weights
from offdiag.wire.runs import Labels
from offdiag.wire.values import Value


class DecisionAsked(Asked):
    """How cases are to be decided."""

    weights: str | Weights | list[list[float]] | None = Field(
        default=None,
        description=(
            "The name of costs, as `visits` or `visits@2`; `{actual: {predicted: cost}}`, which "
            "names every cell; or rows of actual classes, in the order of `labels`. Without it "
            "the costs the dataset is judged by."
        ),
    )
    labels: list[str] | None = Field(
        default=None, description="The order of rows and columns, where `weights` are rows."
    )
    threshold: float | Literal["cheapest"] | None = Field(
        default=None,
        description="Scores from here on are the positive class, of two; `cheapest` on these "
        "cases. Without it each case gets the answer that is cheapest to expect.",
    )
    positive: str | None = Field(
        default=None, description="The class that is flagged where the dataset names none."
    )
    prevalence: dict[str, float] | None = Field(
        default=None, description="The share of every class at deployment; they add up to 1."
    )
    save_as: str | None = Field(
        default=None, description="Keep the answers as a run of this name; the same rule once."
    )
    author: str | None = None


class DecisionAnswer(Answered):
    """What other answers change. Costs are per case, of the cases with a label."""

    recipe: dict[str, Any] = Field(description="The rule, and where its costs come from.")
    labels: Labels
    orientation: SourceOrientation = Field(description="Always actual_rows.")
    matrix_before: list[list[int]]
    matrix_after: list[list[int]]
    mean_cost_before: Value
    mean_cost_after: Value
    difference: Value = Field(description="After minus before, with its paired interval.")
    recall_changes: dict[str, Value] = Field(description="By class, with paired intervals.")
    run: str | None = Field(description="The run that holds the answers, if they were kept.")
