"""Cost matrices: what each kind of answer costs."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from offdiag.wire.bodies import Answered, Asked
from offdiag.wire.projects import DEFAULT_PROJECT, InProject

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
