"""Cost matrices: listed, read in any version, added."""

from __future__ import annotations

from typing import Any

from offdiag.records.cost import (
    CostList,
    Costs,
    CostsQuery,
    CostsWithVersions,
    CostVersion,
    CostVersionQuery,
    NewCosts,
)
from offdiag.services import cost_matrices
from offdiag.services.cost_matrices import browse_cost_matrix
from offdiag.store.cost_matrices import CostMatrixRecord, list_costs
from offdiag.store.cost_matrices import CostVersion as VersionRecord
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.api.requests import weights_by_class
from offdiag_web.app.context import current_registry

blueprint = resource("cost_matrices")


@operation(blueprint, "GET", "/cost-matrices", answers=CostList)
def list_cost_matrices(query: CostsQuery) -> CostList:
    """Read the newest version of each cost matrix."""
    with current_registry().database.read() as session:
        found = list_costs(session, project=query.project)
    return CostList(cost_matrices=[Costs.model_validate(each.to_dict()) for each in found])


@operation(blueprint, "GET", "/cost-matrices/<name:name>", answers=CostsWithVersions)
def get_cost_matrix(name: str, query: CostVersionQuery) -> CostsWithVersions:
    """Read a version of a cost matrix, the newest without a number."""
    found = browse_cost_matrix(
        current_registry().database, project=query.project, name=name, version=query.version
    )
    return CostsWithVersions(
        **_facts(found.shown), versions=[_version(each) for each in found.versions]
    )


@operation(blueprint, "POST", "/cost-matrices", answers={201: Costs}, is_repeatable=True)
def add_cost_matrix(json: NewCosts) -> tuple[Costs, int]:
    """Store what errors cost, as a new version of a name.

    Costs that are equal to the newest version are that version.
    """
    added = cost_matrices.add_costs(
        current_registry().database,
        project=json.project,
        dataset=json.dataset,
        name=json.name,
        weights=weights_by_class(json.weights, json.labels),
        currency=json.currency,
        note=json.note,
        author=author(json.author),
    )
    return Costs.model_validate(added.to_dict()), 201


def _facts(record: CostMatrixRecord) -> dict[str, Any]:
    return record.to_dict()


def _version(record: VersionRecord) -> CostVersion:
    return CostVersion(
        version=record.version,
        n_classes=record.n_classes,
        currency=record.currency,
        note=record.note,
        author=record.author,
        created_at=record.created_at,
    )
