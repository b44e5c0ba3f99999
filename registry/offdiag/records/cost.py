"""Cost matrices."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.texts import name_segment
from offdiag.errors import InvalidInput
from offdiag.records.base import InProject, Request, RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.domain.texts import CostName
    from offdiag.store.cost_matrices import CostMatrixRecord
    from offdiag.store.database import Database

Weights = dict[str, dict[str, float]]


def plain_weights(weights: Mapping[str, Mapping[str, float]]) -> Weights:
    """Costs in the form in which a request states them."""
    return {
        actual: {predicted: float(cost) for predicted, cost in row.items()}
        for actual, row in weights.items()
    }


def weights_by_class(sent: Weights | list[list[float]], labels: list[str] | None) -> Weights:
    """Every cell by the names of its classes; rows are matched by label and never guessed.

    Raises `InvalidInput`.
    """
    if isinstance(sent, dict):
        return sent
    if labels is None:
        raise InvalidInput(
            "the classes of the rows are not stated.",
            field="labels",
            hint="Send the classes in the order of rows and columns.",
        )
    size = len(labels)
    if len(set(labels)) < size:
        raise InvalidInput("a class is named twice.", field="labels", hint="Name each class once.")
    if len(sent) != size or any(len(row) != size for row in sent):
        lengths = sorted({len(row) for row in sent})
        raise InvalidInput(
            f"there are {len(sent)} rows of {lengths} weights for {size} classes.",
            field="weights",
            hint="Send one row, and in it one weight, for each class.",
        )
    return {
        actual: dict(zip(labels, row, strict=True))
        for actual, row in zip(labels, sent, strict=True)
    }


class CostsQuery(RequestBody):
    """Filters for cost matrices."""

    project: str | None = Field(default=None, description="Only cost matrices of this project.")


class CostVersionQuery(InProject):
    """The version of a cost matrix."""

    version: int | None = Field(default=None, ge=1, le=10**9, description="Default: the newest.")


class Costs(ResponseBody):
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


class CostVersion(ResponseBody):
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


class CostList(ResponseBody):
    """The newest version of each cost matrix."""

    cost_matrices: list[Costs]


class NewCosts(InProject):
    """The cost of each error between the classes of a dataset."""

    dataset: str
    name: str
    weights: Weights | list[list[float]] = Field(
        description=(
            "`{actual: {predicted: cost}}` with every cell, or rows of actual classes in the "
            "order of `labels`."
        )
    )
    labels: list[str] | None = Field(
        default=None, description="The order of rows and columns, if `weights` are rows."
    )
    currency: str | None = Field(default=None, max_length=20)
    note: str | None = None
    author: str | None = None


def costs_document(found: CostMatrixRecord) -> Costs:
    return Costs.model_validate(found.to_dict())


def asked_costs_named(database: Database, project: str, wanted: CostName) -> Costs:
    """A cost matrix by its name, or by name and version. Raises `NotFound`."""
    from offdiag.services.cost_matrices import find_costs

    return costs_document(find_costs(database, project=project, wanted=wanted))


def costs_request(project: str, wanted: CostName) -> Request[Costs]:
    return Request(
        f"/cost-matrices/{name_segment(wanted.name)}",
        Costs,
        lambda at: asked_costs_named(at, project, wanted),
        CostVersionQuery.model_construct(project=project, version=wanted.version),
    )


def asked_cost_list(database: Database, asked: CostsQuery) -> CostList:
    """The newest version of each cost matrix."""
    from offdiag.store.cost_matrices import list_costs

    with database.read() as session:
        found = list_costs(session, project=asked.project)
    return CostList(cost_matrices=list(map(costs_document, found)))


def asked_new_costs(
    database: Database, asked: NewCosts, weights: Weights, author: str | None
) -> Costs:
    """Store costs, whose `weights` name every cell."""
    from offdiag.services.cost_matrices import add_costs

    return costs_document(
        add_costs(
            database,
            project=asked.project,
            dataset=asked.dataset,
            name=asked.name,
            weights=weights,
            currency=asked.currency,
            note=asked.note,
            author=author,
        )
    )
