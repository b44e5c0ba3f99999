"""Which project a thing belongs to, for deciding whether somebody may have it."""

from __future__ import annotations

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from offdiag.store.models import (
    CostMatrixRow,
    DatasetRow,
    FlagRow,
    ProjectRow,
    ReportIssueRow,
    RunRow,
    ScheduleRow,
)

Projects = frozenset[str]
"""Names of projects; empty where there is no such thing."""

# Put together once, because every chunk that arrives asks for it.
_OF_RUN = select(ProjectRow.name).where(
    ProjectRow.id.in_(select(RunRow.project_id).where(RunRow.id == bindparam("run_id")))
)


def project_names(session: Session) -> list[str]:
    """All projects by name."""
    return list(session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)))


def project_of_run(session: Session, run_id: str) -> Projects:
    """The project of a run."""
    return frozenset(session.scalars(_OF_RUN, {"run_id": run_id}))


def project_of_flag(session: Session, flag_id: int) -> Projects:
    """The project of the run that a flag is about."""
    flagged = select(FlagRow.run_id).where(FlagRow.id == flag_id)
    return _named(session, select(RunRow.project_id).where(RunRow.id.in_(flagged)))


def projects_with_dataset(session: Session, name: str) -> Projects:
    """The projects that have a dataset of that name."""
    return _named(session, select(DatasetRow.project_id).where(DatasetRow.name == name))


def projects_with_costs(session: Session, name: str) -> Projects:
    """The projects that have a cost matrix of that name."""
    return _named(session, select(CostMatrixRow.project_id).where(CostMatrixRow.name == name))


def projects_with_report(session: Session, name: str) -> Projects:
    """The projects that have a report of that name, on a schedule or not."""
    scheduled = select(ScheduleRow.project_id).where(ScheduleRow.name == name)
    issued = select(ReportIssueRow.project_id).where(ReportIssueRow.name == name)
    return _named(session, scheduled) | _named(session, issued)


def _named(session: Session, ids: Select[int]) -> Projects:
    return frozenset(session.scalars(select(ProjectRow.name).where(ProjectRow.id.in_(ids))))
