"""Cost matrices, decision rules that follow from them, and questions that begin with "what if"."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.records.base import DEFAULT_PROJECT, Answered, Asked, InProject, Value
from offdiag.records.run import Labels

Weights = dict[str, dict[str, float]]


class CostsWanted(Asked):
    """Which cost matrices are wanted."""

    project: str | None = Field(default=None, description="Only those of this project.")


class CostVersionWanted(InProject):
    """Which version of a cost matrix is wanted."""

    version: int | None = Field(default=None, ge=1, le=10**9, description="The newest without.")


class Costs(Answered):
    """A version of a cost matrix."""

    project: str
    name: str
    version: int
    labels: list[str]
    weights: Weights = Field(description="By actual class, then by predicted class.")
    currency: str | None
    note: str | None
    author: str | None
    created_at: datetime


class CostVersion(Answered):
    """A version without its weights."""

    version: int
    n_classes: int
    currency: str | None
    note: str | None
    author: str | None
    created_at: datetime


class CostsWithVersions(Costs):
    """A version of a cost matrix, and all versions of its name, newest first."""

    versions: list[CostVersion]


class CostList(Answered):
    """The newest version of each cost matrix."""

    cost_matrices: list[Costs]


class NewCosts(Asked):
    """What errors cost between the classes of a dataset."""

    project: str = DEFAULT_PROJECT
    dataset: str
    name: str
    weights: Weights | list[list[float]] = Field(
        description=(
            "`{actual: {predicted: cost}}`, which names every cell; or rows of actual classes, "
            "in the order of `labels`."
        )
    )
    labels: list[str] | None = Field(
        default=None, description="The order of rows and columns, where `weights` are rows."
    )
    currency: str | None = Field(default=None, max_length=20)
    note: str | None = None
    author: str | None = None


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


MOST_RUNS = 8


class PricedBy(Asked):
    """What errors cost, to begin with and after changes."""

    base: str | None = Field(
        default=None,
        description=("`visits@2`, `@0-1`, or `@prevalence`; without it the costs of the dataset."),
    )
    edits: str = Field(
        default="",
        max_length=8_000,
        description="Changes such as `mel>nv:20,bcc>*:x2`: actual class, predicted class, cost.",
    )
    vary: str = Field(
        default="",
        max_length=2_000,
        description="The price that is moved, as `mel>nv` or `mel>*`; without it the dearest.",
    )


class WhatIfAsked(Asked):
    """What is different. Parts apply in the order in which they stand here."""

    runs: list[str] = Field(min_length=1, max_length=MOST_RUNS)
    positive: str | None = Field(default=None, description="The class a threshold is about.")
    threshold: float | None = Field(
        default=None, description="Scores from here on are reported as the positive class."
    )
    merge: dict[str, list[str]] = Field(
        default={}, description="By the name of a new class: the classes that become one."
    )
    swap_positive: bool = Field(default=False, description="Exchange two classes.")
    prevalence: dict[str, float] | None = Field(
        default=None, description="The share of every class that is left; they add up to 1."
    )
    costs: PricedBy | None = Field(
        default=None, description="Ask what the runs cost too; not together with a threshold."
    )


class Recounted(Answered):
    """The results of a run after the change."""

    run: str
    labels: list[str]
    orientation: SourceOrientation = Field(description="Always actual_rows.")
    matrix: list[list[float]] = Field(
        description="Counts, or expected counts where a prevalence is given."
    )
    aggregate: dict[str, Value]
    per_class: dict[str, list[Value]] = Field(description="By key, in label order.")
    threshold: float | None = Field(description="The kept threshold that was used.")


class WhatIfAnswer(Answered):
    """The results after the change, run by run, and what they cost if that was asked."""

    runs: list[Recounted]
    costs: dict[str, Any] | None
