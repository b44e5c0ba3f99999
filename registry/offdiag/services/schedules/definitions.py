"""What a report was told to be, for those who change it or make another one like it."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import NotFound
from offdiag.reports.document import read_scope
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.targets import Target, read_targets
from offdiag.store import cost_matrices, reports, schedules
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class Definition:
    """Scope, plan and targets of a report; those of its newest issue where it has no schedule.

    `cron`, `zone` and `version` are None without a schedule; `version` counts its changes.
    """

    name: str
    scope: ReportScope
    targets: tuple[Target, ...]
    cron: str | None = None
    zone: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class CostChoice:
    """A cost matrix by project and name, and the number of its newest version."""

    project: str
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What a report can be about."""

    datasets: tuple[DatasetFacts, ...]
    costs: tuple[CostChoice, ...]


def report_choices(database: Database) -> Choices:
    """All datasets and cost matrices, by project and name; two statements."""
    with database.read() as session:
        return Choices(
            dataset_list(session),
            tuple(
                CostChoice(found.project, found.name, found.version)
                for found in cost_matrices.list_costs(session)
            ),
        )


def report_definition(database: Database, *, project: str, name: str) -> Definition:
    """What a report was told to be. Raises `NotFound`."""
    with database.read() as session:
        return _definition(session, project, name)


def _definition(session: Session, project: str, name: str) -> Definition:
    planned = schedules.find_schedule(session, project=project, name=name)
    if planned is not None:
        return Definition(
            name,
            read_scope(planned.scope),
            read_targets(planned.delivery),
            planned.cron,
            planned.zone,
            planned.version,
        )
    issued = reports.find_numbered(session, project=project, name=name, number=None)
    if issued is None:
        raise NotFound(
            f"project {project!r} has no report {name!r}.",
            field="name",
            hint="`offdiag report list` shows the reports there are.",
        )
    return Definition(name, read_scope(issued.scope), read_targets(issued.delivery))
