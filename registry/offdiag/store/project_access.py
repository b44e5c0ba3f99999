"""Restricting a transaction to the projects that a user may see, and finding an object's project.

A user who can view a few projects gets a database in which there are no others: the condition is
added to every statement before it is executed, including joins and subqueries, so that no query
has to remember it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, bindparam, event, exists, false, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria
from sqlalchemy.sql.base import ExecutableOption

from offdiag.domain.sentences import enumerated
from offdiag.errors import Forbidden
from offdiag.store.models import (
    AuditEventRow,
    BaselineRow,
    CommentRow,
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    ProblemRow,
    ProjectRow,
    PromotionRow,
    ReportEditionRow,
    RunRow,
    ScheduleRow,
    TruthVersionRow,
    WorkRow,
)

KEY = "offdiag scope"

_OF_A_PROJECT = (RunRow, DatasetRow, ScheduleRow, ReportEditionRow, CostMatrixRow)
_OF_A_RUN = (EvaluationRow, FlagRow)
_OF_A_DATASET = (TruthVersionRow, BaselineRow, ProblemRow, PromotionRow)


def confine(session: Session, projects: frozenset[str], *, for_reading: bool) -> None:
    """Let a session see what belongs to these projects and nothing else.

    Jobs are not restricted: no one who sees only a part of a registry reads them, but changes by
    such a user may have to start some.
    """
    options = _options(projects, hides_work=for_reading)
    session.info[KEY] = projects

    @event.listens_for(session, "do_orm_execute")
    def narrow(state: ORMExecuteState) -> None:
        if state.is_select or state.is_update or state.is_delete:
            state.statement = state.statement.options(*options)


def require_project(session: Session, name: str) -> None:
    """Raise `Forbidden` if a restricted session is about to create a project it may not see."""
    projects = session.info.get(KEY)
    if projects is not None and name not in projects:
        raise Forbidden(
            f"project {name!r} does not exist, or you have no access to it.",
            field="project",
            hint="Ask an admin for a role in it, or name one of yours.",
        )


@lru_cache(maxsize=64)  # Every transaction asks for those of one of a few users.
def _options(projects: frozenset[str], *, hides_work: bool) -> tuple[ExecutableOption, ...]:
    names = sorted(projects)
    # Tables and not rows, because these must not be restricted in turn.
    project, run, dataset, flag = (
        _table(row).alias(f"scope_{row.__tablename__}")
        for row in (ProjectRow, RunRow, DatasetRow, FlagRow)
    )
    visible = select(project.c.id).where(project.c.name.in_(names))
    seen_runs = select(run.c.id).where(run.c.project_id.in_(visible))
    seen_datasets = select(dataset.c.id).where(dataset.c.project_id.in_(visible))
    criteria: list[tuple[Any, ColumnElement[bool]]] = [
        (ProjectRow, ProjectRow.name.in_(names)),
        (AuditEventRow, AuditEventRow.project.in_(names)),
        (
            CommentRow,
            or_(
                CommentRow.run_id.in_(seen_runs),
                CommentRow.dataset_id.in_(seen_datasets),
                CommentRow.flag_id.in_(select(flag.c.id).where(flag.c.run_id.in_(seen_runs))),
            ),
        ),
        *((row, row.project_id.in_(visible)) for row in _OF_A_PROJECT),
        *(
            (
                row,
                exists()
                .where(run.c.id == row.run_id, run.c.project_id.in_(visible))
                .correlate_except(run),
            )
            for row in _OF_A_RUN
        ),
        *(
            (
                row,
                exists()
                .where(dataset.c.id == row.dataset_id, dataset.c.project_id.in_(visible))
                .correlate_except(dataset),
            )
            for row in _OF_A_DATASET
        ),
    ]
    if hides_work:
        criteria.append((WorkRow, false()))
    return tuple(
        with_loader_criteria(row, condition, include_aliases=True) for row, condition in criteria
    )


def _table(row: Any) -> Table:
    table = row.__table__
    assert isinstance(table, Table)  # noqa: S101 - every row class has one
    return table


Projects = frozenset[str]
"""Names of projects; empty if the object does not exist."""

# Built once, because every chunk that arrives needs it.
_OF_RUN = select(ProjectRow.name).where(
    ProjectRow.id.in_(select(RunRow.project_id).where(RunRow.id == bindparam("run_id")))
)


def project_names(session: Session) -> list[str]:
    return list(session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)))


def project_of_run(session: Session, run_id: str) -> Projects:
    return frozenset(session.scalars(_OF_RUN, {"run_id": run_id}))


def project_of_flag(session: Session, flag_id: int) -> Projects:
    return projects_of_flags(session, [flag_id])


def projects_of_flags(session: Session, ids: Sequence[int]) -> Projects:
    """The projects of the runs that flags are about."""
    flagged = select(FlagRow.run_id).where(FlagRow.id.in_(ids))
    return _named(session, select(RunRow.project_id).where(RunRow.id.in_(flagged)))


def project_of_problem(session: Session, number: int) -> Projects:
    dataset = select(ProblemRow.dataset_id).where(ProblemRow.id == number)
    return _named(session, select(DatasetRow.project_id).where(DatasetRow.id.in_(dataset)))


def projects_with_dataset(session: Session, name: str) -> Projects:
    return _named(session, select(DatasetRow.project_id).where(DatasetRow.name == name))


def projects_with_costs(session: Session, name: str) -> Projects:
    """The projects that have a cost matrix of that name."""
    return _named(session, select(CostMatrixRow.project_id).where(CostMatrixRow.name == name))


def projects_with_report(session: Session, name: str) -> Projects:
    """The projects that have a report of that name, on a schedule or not."""
    scheduled = select(ScheduleRow.project_id).where(ScheduleRow.name == name)
    created = select(ReportEditionRow.project_id).where(ReportEditionRow.name == name)
    return _named(session, scheduled) | _named(session, created)


def elsewhere(projects: Projects) -> str | None:
    """A sentence naming the projects that have what another one lacks; None if there are none."""
    names = sorted(map(repr, projects))
    have = "Projects {} have one" if len(names) > 1 else "Project {} has one"
    return f"{have.format(enumerated(names))} of that name." if names else None


def _named(session: Session, ids: Select[int]) -> Projects:
    return frozenset(session.scalars(select(ProjectRow.name).where(ProjectRow.id.in_(ids))))
