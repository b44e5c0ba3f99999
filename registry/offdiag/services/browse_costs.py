"""What the pages of cost matrices read, one function per page and one transaction per call."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import NotFound
from offdiag.store import cost_matrices, datasets
from offdiag.store.cost_matrices import (
    CostMatrixRecord,
    CostVersion,
    DatasetUse,
    ReportUse,
    dataset_uses,
    newest_versions,
    report_uses,
    versions_of,
)
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord


@dataclass(frozen=True)
class CostOverview:
    """All cost matrices in their newest versions, with all datasets and reports."""

    newest: tuple[CostVersion, ...]
    datasets: tuple[DatasetUse, ...]
    reports: tuple[ReportUse, ...]


@dataclass(frozen=True)
class CostDetail:
    """One version of a cost matrix, and the one it is compared with, if there is another.

    `datasets` are those of the same project, `reports` those that name any version of it.
    """

    versions: tuple[CostVersion, ...]
    shown: CostMatrixRecord
    before: CostMatrixRecord | None
    datasets: tuple[DatasetUse, ...]
    reports: tuple[ReportUse, ...]


def browse_costs(database: Database) -> CostOverview:
    """All cost matrices."""
    with database.read() as session:
        return CostOverview(newest_versions(session), dataset_uses(session), report_uses(session))


def browse_cost_matrix(
    database: Database,
    *,
    project: str,
    name: str,
    version: int | None = None,
    before: int | None = None,
) -> CostDetail:
    """A version of a cost matrix, the newest without a number, compared with `before` or with
    the one before it. Raises `NotFound`."""
    with database.read() as session:
        versions = versions_of(session, project=project, name=name)
        shown = _version(versions, version, project=project, name=name)
        earlier = [each for each in versions if each.version < shown.version]
        other = earlier[0] if before is None and earlier else None
        if before is not None:
            other = _version(versions, before, project=project, name=name)
        return CostDetail(
            versions,
            cost_matrices.get_costs(session, shown.id),
            None if other is None else cost_matrices.get_costs(session, other.id),
            dataset_uses(session, project=project),
            tuple(
                use
                for use in report_uses(session, project=project)
                if use.costs == name or use.costs.rpartition("@")[0] == name
            ),
        )


def datasets_to_price(database: Database, *, project: str) -> tuple[DatasetUse, ...]:
    """Datasets of a project, whose classes new costs may be about."""
    with database.read() as session:
        return dataset_uses(session, project=project)


def dataset_of_costs(database: Database, dataset_id: int) -> DatasetRecord:
    """A dataset by id, which must exist."""
    with database.read() as session:
        return datasets.get_dataset(session, dataset_id)


def _version(
    versions: tuple[CostVersion, ...], wanted: int | None, *, project: str, name: str
) -> CostVersion:
    found = next((each for each in versions if wanted in (None, each.version)), None)
    if found is None:
        which = name if wanted is None else f"{name}@{wanted}"
        raise NotFound(
            f"project {project!r} has no cost matrix {which!r}.",
            field="cost_matrix",
            hint="The list of costs shows those there are.",
        )
    return found
