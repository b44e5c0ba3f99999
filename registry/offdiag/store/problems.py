"""Statements on problems: their numbers, and their flags by run.

Problems are assembled from the newest runs of each model, so reading them takes a few statements
however many runs there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Subquery, and_, case, exists, func, or_, select, tuple_
from sqlalchemy.orm import Session

from offdiag.domain.runs import PromotionRole, Task
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.problems import (
    CAUSE_OF,
    MOST_RUNS,
    RULES_OF,
    Cause,
    Problem,
    ProblemKey,
    SeenFlag,
    SeenRun,
    in_order,
    problems_of,
)
from offdiag.flags.verdict import Severity
from offdiag.store.datasets import stored_labels
from offdiag.store.evaluations import has_results_of_run
from offdiag.store.flags import newest_decisions
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    ProblemRow,
    ProjectRow,
    RunRow,
)
from offdiag.store.models.base import insert_into
from offdiag.store.promotions import runs_in_roles

NO_MODEL = ""
"""Value of `problem.model` for runs that name no model."""

_CAUSE = case(
    *((FlagRow.rule.in_(rules), cause.value) for cause, rules in RULES_OF.items()), else_=None
)


def _model() -> ColumnElement[str]:
    return func.coalesce(RunRow.model, NO_MODEL)


def number_problems(session: Session, *, run_id: str | None = None) -> None:
    """Assign numbers to the problems of one run's flags, or all flags, that have none yet."""
    session.flush()
    known = (
        select(
            RunRow.dataset_id,
            _model().label("model"),
            _CAUSE.label("cause"),
            FlagRow.class_label,
            FlagRow.slice,
            FlagRow.first_seen,
        )
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .where(FlagRow.rule.in_(CAUSE_OF))
    )
    if run_id is not None:
        known = known.where(FlagRow.run_id == run_id)
    raised = known.subquery()
    named = ["dataset_id", "model", "cause", "class_label", "slice"]
    key = [raised.c[name] for name in named]
    opened_at = func.min(raised.c.first_seen)
    is_numbered = exists().where(*(getattr(ProblemRow, column.name) == column for column in key))
    missing = select(*key, opened_at).where(~is_numbered).group_by(*key).order_by(opened_at, *key)
    names = [*named, "opened_at"]
    session.execute(
        insert_into(session, ProblemRow).from_select(names, missing).on_conflict_do_nothing()
    )


@dataclass(frozen=True, slots=True)
class DatasetOfProblems:
    """The dataset of problems, with the names that pages and documents give it."""

    name: str
    project: str
    task: Task
    labels: tuple[str, ...]


@dataclass(frozen=True)
class FoundProblems:
    """Problems in no particular order, and the datasets they belong to.

    `revisions` increase with each decision about a problem.
    """

    problems: tuple[Problem, ...]
    datasets: Mapping[int, DatasetOfProblems]
    revisions: Mapping[int, int] = field(default_factory=dict)


def find_problems(
    session: Session,
    *,
    now: datetime,
    dataset: str | None = None,
    project: str | None = None,
    beside: int | None = None,
    model: str | None = None,
    run_id: str | None = None,
) -> FoundProblems:
    """Problems of the newest runs of each model, of champions and candidates; closed ones too.

    With `run_id` those of this run's model on its dataset, however old the run is; with `beside`
    those on the dataset of the problem with this number.
    """
    found = _grouped(
        session,
        now,
        dataset=dataset,
        project=project,
        beside=beside,
        model=model,
        run_id=run_id,
    )
    datasets = _datasets(session, {problem.key.dataset_id for problem in found})
    return FoundProblems(tuple(found), datasets, _revisions(session, found))


def _revisions(session: Session, found: Sequence[Problem]) -> dict[int, int]:
    """Sums of the numbers of the last decisions about the flags of each problem.

    Decisions about one flag are made one after the other. Of decisions about a problem, the one
    numbered first may be committed last, so the highest number would not show the change. An old
    run that is only considered because it was requested does not count.
    """
    last, revisions = newest_decisions(session), {}
    for problem in found:
        runs = {run.id for run in problem.runs[:MOST_RUNS]}
        runs |= {run.id for run in problem.runs if run.role is not None}
        revisions[problem.number] = sum(
            last.get(flag.id, 0) for flag in problem.flags if flag.run_id in runs
        )
    return revisions


def unresolved_problems(session: Session, *, now: datetime) -> list[Problem]:
    """Unresolved problems that are not of low severity, in the order of lists.

    The statements are marked as those of the navigation, which is on every page.
    """
    return [
        problem
        for problem in in_order(_grouped(session, now, mark="navigation"), None)
        if problem.state.is_unresolved and not problem.is_low
    ]


def _grouped(
    session: Session,
    now: datetime,
    *,
    mark: str = "problems",
    **wanted: Any,
) -> list[Problem]:
    comment = f"/* {mark} */"
    runs = _looked_at(**wanted)
    columns = (runs.c.id, runs.c.name, runs.c.dataset_id, runs.c.model, runs.c.created_at)
    is_open = and_(FlagRow.run_id == runs.c.id, FlagRow.state != FlagState.CLOSED)
    # Each run is repeated with each of its flags: finding runs takes longer than naming them
    # again.
    rows: Sequence[Sequence[Any]] = session.execute(
        select(*_FLAG, *columns, runs.c.role)
        .select_from(runs)
        .outerjoin(FlagRow, is_open)
        .order_by(runs.c.created_at.desc(), runs.c.id.desc(), FlagRow.id)
        .prefix_with(comment)
    ).all()
    n = len(_FLAG)
    seen = {
        id_: SeenRun(id_, name, of, named, at, None if role is None else PromotionRole(role))
        for id_, name, of, named, at, role in (row[n:] for row in rows)
    }
    if not seen:
        return []
    flags = (_flag(row[:n]) for row in rows if row[0] is not None)
    numbers = _numbers(session, {run.dataset_id for run in seen.values()}, comment)
    return problems_of(numbers, tuple(seen.values()), flags, now=now)


def _numbers(session: Session, datasets: Collection[int], mark: str) -> dict[ProblemKey, int]:
    rows = session.execute(
        select(
            ProblemRow.id,
            ProblemRow.dataset_id,
            ProblemRow.model,
            ProblemRow.cause,
            ProblemRow.class_label,
            ProblemRow.slice,
        )
        .where(ProblemRow.dataset_id.in_(datasets))
        .prefix_with(mark)
    )
    return {
        ProblemKey(dataset_id, named, Cause(cause), label, part): id_
        for id_, dataset_id, named, cause, label, part in rows
    }


def find_problem(
    session: Session, number: int, *, now: datetime
) -> tuple[Problem | None, FoundProblems]:
    """A problem by its number, None if none of the considered runs has it.

    All problems of its dataset are returned with it.
    """
    found = find_problems(session, now=now, beside=number)
    return next((each for each in found.problems if each.number == number), None), found


def problem_of_flag(session: Session, flag_id: int) -> int | None:
    """The number of the problem that a flag belongs to."""
    found: int | None = session.scalar(
        select(ProblemRow.id)
        .join(RunRow, RunRow.dataset_id == ProblemRow.dataset_id)
        .join(FlagRow, FlagRow.run_id == RunRow.id)
        .where(
            FlagRow.id == flag_id,
            ProblemRow.model == _model(),
            ProblemRow.cause == _CAUSE,
            ProblemRow.class_label == FlagRow.class_label,
            ProblemRow.slice == FlagRow.slice,
        )
    )
    return found


def _looked_at(
    *,
    dataset: str | None = None,
    project: str | None = None,
    beside: int | None = None,
    model: str | None = None,
    run_id: str | None = None,
) -> Subquery:
    place = func.row_number().over(
        partition_by=(RunRow.dataset_id, RunRow.model),
        order_by=(RunRow.created_at.desc(), RunRow.id.desc()),
    )
    numbered = select(ProblemRow.dataset_id, ProblemRow.model)
    runs = (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.dataset_id,
            _model().label("model"),
            RunRow.created_at,
            place.label("place"),
        )
        .join(EvaluationRow, has_results_of_run())
        # Only models that ever had a problem, which are few if most runs are fine.
        .where(RunRow.deleted_at.is_(None), tuple_(RunRow.dataset_id, _model()).in_(numbered))
    )
    if beside is not None:
        of_problem = select(ProblemRow.dataset_id).where(ProblemRow.id == beside)
        runs = runs.where(RunRow.dataset_id == of_problem.scalar_subquery())
    if model is not None:
        runs = runs.where(_model() == model)
    if dataset is not None:
        named = select(DatasetRow.id).where(DatasetRow.name == dataset)
        runs = runs.where(RunRow.dataset_id.in_(named))
    if project is not None:
        of = select(ProjectRow.id).where(ProjectRow.name == project)
        runs = runs.where(RunRow.project_id.in_(of))
    if run_id is not None:
        same = select(RunRow.dataset_id, _model()).where(RunRow.id == run_id)
        runs = runs.where(tuple_(RunRow.dataset_id, _model()).in_(same))
    newest, roles = runs.subquery(), runs_in_roles()
    is_looked_at = or_(
        newest.c.place <= MOST_RUNS, roles.c.role.is_not(None), newest.c.id == run_id
    )
    return (
        select(newest, roles.c.role)
        .outerjoin(roles, roles.c.run_id == newest.c.id)
        .where(is_looked_at)
        .subquery()
    )


_FLAG = (
    FlagRow.id,
    FlagRow.run_id,
    FlagRow.rule,
    FlagRow.class_label,
    FlagRow.state,
    FlagRow.severity,
    FlagRow.settled_severity,
    FlagRow.snoozed_until,
    FlagRow.assignee,
    FlagRow.first_seen,
    FlagRow.slice,
)


def _flag(row: Sequence[Any]) -> SeenFlag:
    id_, run_id, rule, class_label, state, severity, settled, until, *rest = row
    status = FlagStatus(
        FlagState(state), Severity(severity), None if settled is None else Severity(settled), until
    )
    return SeenFlag(id_, run_id, rule, class_label, status, *rest)


def _datasets(session: Session, ids: Collection[int]) -> dict[int, DatasetOfProblems]:
    if not ids:
        return {}
    rows = session.execute(
        select(DatasetRow.id, DatasetRow.name, ProjectRow.name, DatasetRow.task, LabelSetRow)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(DatasetRow.id.in_(ids))
    )
    return {
        id_: DatasetOfProblems(name, project, Task(task), stored_labels(label_set).names)
        for id_, name, project, task, label_set in rows
    }
