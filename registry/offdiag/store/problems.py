"""Statements on problems: their numbers, their flags by run, and what was measured over runs.

Problems are put together from the newest runs of each model, so reading them costs a few
statements however many runs there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Subquery, and_, case, exists, func, or_, select, tuple_
from sqlalchemy.orm import Session

from offdiag.domain.runs import PromotionRole, Task
from offdiag.domain.slices import parse_slice
from offdiag.filters.conditions import MetricField
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
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.flags import newest_decisions
from offdiag.store.models import (
    AGGREGATE,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    MetricValueRow,
    ProblemRow,
    ProjectRow,
    RunRow,
)
from offdiag.store.models.base import insert_into
from offdiag.store.promotions import runs_in_roles
from offdiag.store.ranked_runs import RankedRun, highest_runs, ranked_run
from offdiag.store.run_slices import best_on_slice, values_of_slices

NO_MODEL = ""
"""In `problem.model`, for runs that name no model."""

_CAUSE = case(
    *((FlagRow.rule.in_(rules), cause.value) for cause, rules in RULES_OF.items()), else_=None
)


def _model() -> ColumnElement[str]:
    return func.coalesce(RunRow.model, NO_MODEL)


def number_problems(session: Session, *, run_id: str | None = None) -> None:
    """Number the problems of flags, of one run or of all, that have no number yet."""
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

    `revisions` grow with each decision about a problem.
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

    With `run_id` those of the model of this run on its dataset, however old the run is; with
    `beside` those on the dataset of the problem with this number.
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
    """Sums of the last decisions about the flags of problems.

    About one flag there is one decision after the other. About a problem, the one that is numbered
    first may be committed last, and the highest number would not tell. An old run that is only
    looked at because it was asked for does not count.
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
    # Each run with each of its flags: to find the runs takes longer than to name them again.
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
    """A problem by its number, None where no run that is looked at shows it.

    With it come all problems of its dataset.
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
    runs = (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.dataset_id,
            _model().label("model"),
            RunRow.created_at,
            place.label("place"),
        )
        .join(EvaluationRow, and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run()))
        .where(RunRow.deleted_at.is_(None))
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
        select(DatasetRow.id, *_DATASET)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(DatasetRow.id.in_(ids))
    )
    return {id_: _dataset(facts) for id_, *facts in rows}


_DATASET = (DatasetRow.name, ProjectRow.name, DatasetRow.task, LabelSetRow.names)


def _dataset(facts: Sequence[Any]) -> DatasetOfProblems:
    name, project, task, labels = facts
    return DatasetOfProblems(name, project, Task(task), tuple(labels))


MEASURED: Mapping[Cause, str] = {
    Cause.MISSED: "recall",
    Cause.DROP: "recall",
    Cause.IMPRECISE: "precision",
    Cause.WORTHLESS: "balanced_accuracy",
    Cause.HIDES: "balanced_accuracy",
}
"""The metric whose trend over the runs of the model is shown, of causes that always have one."""


def metric_of(problem: Problem, task: Task) -> str | None:
    """The metric whose trend over the runs of the model is shown; None for some causes."""
    if problem.key.cause is not Cause.SLICE:
        return MEASURED.get(problem.key.cause)
    if problem.key.class_label:
        return "recall"
    return "subset_accuracy" if task is Task.MULTILABEL else "overall_accuracy"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a flag of the newest run that shows a problem says, and the metric by run.

    `trend` goes from the oldest to the newest run looked at; `run_id` is the run of the flag.
    """

    flag_id: int
    run_id: str
    rule: str
    message: str
    evidence: Mapping[str, Any]
    trend: tuple[float | None, ...]


def measure(
    session: Session, found: FoundProblems, *, run_id: str | None = None
) -> dict[int, Measured]:
    """What was measured about some problems, by number, in two statements.

    Of the run `run_id` where it shows a problem. Problems on slices take a few statements more.
    """
    newest = {problem.number: _chosen(problem, run_id) for problem in found.problems}
    texts = {
        id_: (message, evidence)
        for id_, message, evidence in session.execute(
            select(FlagRow.id, FlagRow.message, FlagRow.evidence).where(
                FlagRow.id.in_([flag.id for flag in newest.values()])
            )
        )
    }
    values, on_slices = _values(session, found), _on_slices(session, found)
    return {
        problem.number: Measured(
            flag_id=newest[problem.number].id,
            run_id=newest[problem.number].run_id,
            rule=newest[problem.number].rule,
            message=texts[newest[problem.number].id][0],
            evidence=texts[newest[problem.number].id][1],
            trend=tuple(
                values.get((run.id, *_place(problem, found))) for run in reversed(problem.runs)
            )
            if problem.key.cause in MEASURED
            else on_slices.get(problem.number, ()),
        )
        for problem in found.problems
    }


def best_run_on(session: Session, problem: Problem, found: FoundProblems) -> RankedRun | None:
    """The run, of any model, with the highest value of what is measured; None for no metric."""
    if problem.key.cause is Cause.SLICE:
        best_here = best_on_slice(session, problem.key.dataset_id, _field(problem, found))
        return None if best_here is None else ranked_run(session, *best_here)
    if problem.key.cause not in MEASURED:
        return None
    key, class_index = _place(problem, found)
    best = highest_runs(session, problem.key.dataset_id, key, class_index, limit=1)
    return best[0] if best else None


def _field(problem: Problem, found: FoundProblems) -> MetricField:
    """What is measured of a problem on a slice."""
    key = problem.key
    metric = metric_of(problem, found.datasets[key.dataset_id].task)
    return MetricField(str(metric), key.class_label or None, part=parse_slice(key.slice))


def _on_slices(session: Session, found: FoundProblems) -> dict[int, tuple[float | None, ...]]:
    """The trends of problems on slices, by number."""
    fields = {
        problem.number: _field(problem, found)
        for problem in found.problems
        if problem.key.cause is Cause.SLICE
    }
    run_ids = {run.id for each in found.problems if each.number in fields for run in each.runs}
    values = values_of_slices(session, set(fields.values()), run_ids)
    return {
        problem.number: tuple(
            None if value is None else value.value
            for value in (
                values.get((run.id, fields[problem.number])) for run in reversed(problem.runs)
            )
        )
        for problem in found.problems
        if problem.number in fields
    }


def _chosen(problem: Problem, run_id: str | None) -> SeenFlag:
    """Of the run asked for, of a role, or of the newest run; counts of a class say the most."""
    asked_for = [flag for flag in problem.flags if flag.run_id == run_id]
    shown = asked_for or problem.current or problem.flags
    roles = {run.id for run in problem.runs if run.role is PromotionRole.CHAMPION}
    of_role = [flag for flag in shown if flag.run_id in roles]
    run_id = (of_role or shown)[0].run_id
    return min(
        (flag for flag in shown if flag.run_id == run_id),
        key=lambda flag: (_MOST_TELLING.get(flag.rule, 0), -flag.status.severity.rank, flag.id),
    )


_MOST_TELLING = {"F10": 2, "F2": 1}
"""Flags that say how often a class is predicted, which tells less than how often it is found."""


def _place(problem: Problem, found: FoundProblems) -> tuple[str, int]:
    names = found.datasets[problem.key.dataset_id].labels
    label = problem.key.class_label
    index = names.index(label) if label in names else AGGREGATE
    return MEASURED[problem.key.cause], index


def _values(session: Session, found: FoundProblems) -> dict[tuple[str, str, int], float | None]:
    wanted: dict[int, set[tuple[str, int]]] = defaultdict(set)
    runs: dict[int, set[str]] = defaultdict(set)
    for problem in found.problems:
        if problem.key.cause in MEASURED:
            wanted[problem.key.dataset_id].add(_place(problem, found))
            runs[problem.key.dataset_id] |= {run.id for run in problem.runs}
    if not wanted:
        return {}
    rows = session.execute(
        select(
            EvaluationRow.run_id,
            MetricValueRow.key,
            MetricValueRow.class_index,
            MetricValueRow.value,
        )
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(counts_for_its_run(), or_(*_of_datasets(wanted, runs)))
    )
    return {(run_id, key, index): value for run_id, key, index, value in rows}


def _of_datasets(
    wanted: Mapping[int, Iterable[tuple[str, int]]], runs: Mapping[int, Collection[str]]
) -> Iterable[Any]:
    for dataset_id, places in wanted.items():
        by_key: dict[str, list[int]] = defaultdict(list)
        for key, index in places:
            by_key[key].append(index)
        for key, indices in by_key.items():
            yield and_(
                EvaluationRow.run_id.in_(runs[dataset_id]),
                MetricValueRow.key == key,
                MetricValueRow.class_index.in_(indices),
            )
