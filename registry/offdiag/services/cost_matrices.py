"""Cost matrices: storing and versioning them, and making one the default of a dataset.

It also provides what their pages read, in one transaction per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import MAX_TEXT_LENGTH, Task, require_name, require_text
from offdiag.domain.suggestions import did_you_mean
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.store import cost_matrices, runs
from offdiag.store.cost_matrices import (
    CostMatrixRecord,
    CostVersion,
    DatasetUse,
    ReportUse,
    dataset_uses,
    report_uses,
    versions_of,
)
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.project_access import elsewhere, projects_with_costs


def add_costs(
    database: Database,
    *,
    project: str,
    dataset: str,
    name: str,
    weights: Mapping[str, Mapping[str, float]] | NDArray[np.float64],
    currency: str | None = None,
    note: str | None = None,
    author: str | None = None,
    seen: int | None = None,
    as_default: bool = False,
) -> CostMatrixRecord:
    """Store what each error costs between the classes of a dataset, as a new version of a name.

    `weights[actual][predicted]` must name every cell; an array has the classes in the order of the
    dataset, with the actual class along the first axis. If the newest version already has the same
    costs, it is returned. `seen` is the newest version that the author knows of, 0 for none; if
    there is another by now, that is a `Conflict`. With `as_default` the runs of the dataset are
    judged by these costs from now on, as with `set_default_costs`. Raises `NotFound` for an
    unknown dataset and `InvalidInput` for unusable names and costs.
    """
    require_name(name, "name")
    if "@" in name:
        raise InvalidInput(
            f"{name!r} contains an @, which introduces a version number.",
            field="name",
            hint="Leave it out.",
        )
    for field, text in (("note", note), ("author", author)):
        if text is not None:
            require_text(text, field, MAX_TEXT_LENGTH)
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        _require_single_labels(known)
        costs = cost_matrix(weights, labels=known.labels, currency=currency)
        cost_matrices.lock_costs(session, known.project_id)
        newest = cost_matrices.find_costs(session, project=project, name=name)
        if (
            newest is not None
            and newest.costs.labels.digest == costs.labels.digest
            and np.array_equal(newest.costs.weights, costs.weights)
            and (newest.costs.currency, newest.note) == (costs.currency, note)
        ):
            costs_id = newest.id
        elif seen is not None and newest is not None and newest.version != seen:
            raise _not_seen(newest, seen)
        else:
            costs_id = cost_matrices.insert_costs(
                session,
                project_id=known.project_id,
                name=name,
                version=1 if newest is None else newest.version + 1,
                costs=costs,
                author=author,
                note=note,
                now=database.clock(),
            )
        if as_default:
            _judge_by(session, known, costs_id)
        return cost_matrices.get_costs(session, costs_id)


def _not_seen(newest: CostMatrixRecord, seen: int) -> Conflict:
    again = f"Save again to make this its version {newest.version + 1}"
    if seen:
        return Conflict(
            f"{newest.name!r} has a version {newest.version} since this form was opened.",
            field="name",
            hint=f"Look at its costs. {again}, without what version {newest.version} changed.",
        )
    return Conflict(
        f"cost matrix {newest.name!r} already exists, in version {newest.version}.",
        field="name",
        hint=f"{again}, or change the name.",
    )


def _require_single_labels(dataset: DatasetRecord) -> None:
    if dataset.task is Task.MULTILABEL:
        raise Conflict(
            f"the samples of dataset {dataset.name!r} have sets of labels, and a cost matrix "
            "has the costs of confusing two classes.",
            field="dataset",
            hint="offdiag.label_costs and `offdiag cost labels` take costs of single labels.",
        )


def find_costs(database: Database, *, project: str, wanted: CostName) -> CostMatrixRecord:
    """A cost matrix by name. Raises `NotFound`."""
    with database.read() as session:
        return costs_named(session, project=project, wanted=wanted)


def set_default_costs(
    database: Database, *, project: str, dataset: str, wanted: CostName | None
) -> int:
    """Judge the runs of a dataset by a cost matrix from now on, or by none.

    In the same transaction all its runs are submitted for evaluation; returns how many were not
    already waiting. Raises `NotFound`, and `Conflict` for costs of other classes.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        if wanted is not None:
            _require_single_labels(known)
        costs = None if wanted is None else costs_named(session, project=project, wanted=wanted)
        if costs is not None and costs.costs.labels.digest != known.labels.digest:
            raise Conflict(
                f"cost matrix {wanted} is for the classes {costs.costs.labels.preview()}, dataset "
                f"{dataset!r} has {known.labels.preview()}.",
                field="cost_matrix",
                hint="Add costs for the classes of this dataset.",
            )
        return _judge_by(session, known, None if costs is None else costs.id)


def _judge_by(session: Session, dataset: DatasetRecord, costs_id: int | None) -> int:
    """Set a dataset's default costs and submit its runs; returns how many were not waiting."""
    cost_matrices.set_default_costs(session, dataset.id, costs_id)
    return submit_evaluations(session, runs.complete_run_ids(session, dataset.id))


def costs_named(session: Session, *, project: str, wanted: CostName) -> CostMatrixRecord:
    """A cost matrix by name. Raises `NotFound`."""
    found = cost_matrices.find_costs(
        session, project=project, name=wanted.name, version=wanted.version
    )
    if found is None:
        raise NotFound(
            f"project {project!r} has no cost matrix {str(wanted)!r}.",
            field="cost_matrix",
            hint=_near_names(session, project, wanted.name)
            or "`offdiag cost list` shows those there are.",
        )
    return found


def _near_names(session: Session, project: str, name: str) -> str | None:
    known = [each.name for each in cost_matrices.list_costs(session, project=project)]
    if name in known:
        return None
    return elsewhere(projects_with_costs(session, name)) or did_you_mean(name, known)


@dataclass(frozen=True)
class CostDetail:
    """One version of a cost matrix, and the one with which it is compared, if there is another.

    `datasets` are in the same project, `reports` are those that name any version of the matrix.
    """

    versions: tuple[CostVersion, ...]
    shown: CostMatrixRecord
    before: CostMatrixRecord | None
    datasets: tuple[DatasetUse, ...]
    reports: tuple[ReportUse, ...]


def browse_cost_matrix(
    database: Database,
    *,
    project: str,
    name: str,
    version: int | None = None,
    before: int | None = None,
) -> CostDetail:
    """A version of a cost matrix (by default the newest), compared with `before` or with the
    version before it. Raises `NotFound`."""
    with database.read() as session:
        versions = versions_of(session, project=project, name=name)
        shown = _version(session, versions, version, project=project, name=name)
        earlier = [each for each in versions if each.version < shown.version]
        other = earlier[0] if before is None and earlier else None
        if before is not None:
            other = _version(session, versions, before, project=project, name=name)
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


def _version(
    session: Session,
    versions: tuple[CostVersion, ...],
    wanted: int | None,
    *,
    project: str,
    name: str,
) -> CostVersion:
    found = next((each for each in versions if wanted in (None, each.version)), None)
    if found is None:
        which = name if wanted is None else f"{name}@{wanted}"
        raise NotFound(
            f"project {project!r} has no cost matrix {which!r}.",
            field="cost_matrix",
            hint=_near_names(session, project, name) or "The list of costs shows those there are.",
        )
    return found
