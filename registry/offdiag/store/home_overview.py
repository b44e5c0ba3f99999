"""What asks for attention in a registry: flags nobody settled, reports to come, failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Text, case, cast, func, literal, select, union_all
from sqlalchemy.orm import Session

from offdiag.flags.lifecycle import FlagState
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns, dataset_overview
from offdiag.store.flags import HIDES, MAY_HIDE
from offdiag.store.models import (
    DatasetRow,
    FlagRow,
    ProjectRow,
    ReportEditionRow,
    RunRow,
    ScheduleRow,
    TruthVersionRow,
    WorkRow,
)


@dataclass(frozen=True, slots=True)
class DueReport:
    """A report that will be made; `dataset` is the one it is about, where that is one."""

    project: str
    dataset: str | None
    name: str
    due: datetime


@dataclass(frozen=True, slots=True)
class Failure:
    """A piece of work that was given up, or an issue of a report that could not be made.

    `number` is that of the job or of the issue; `name` the kind of work, or the report.
    """

    is_report: bool
    project: str
    name: str
    number: int
    error: str
    at: datetime


MOST_COUNTED_OF_EACH = 100
"""More open flags of one dataset are not counted: to count all takes longer the more there are."""


NEWEST_LOOKED_AT = 100
"""Flags of older runs of a dataset are not looked for: to find none takes longer the more runs."""


@dataclass(frozen=True, slots=True)
class OpenFlags:
    """How many flags are open, and of these how many set the red and the amber badge."""

    n_open: int
    n_hides: int
    n_may_hide: int


def open_flags_by_dataset(session: Session) -> Mapping[int, OpenFlags]:
    """How many flags of its newest runs are open, by the id of the dataset.

    At most `MOST_COUNTED_OF_EACH`, of at most `NEWEST_LOOKED_AT` runs.
    """
    newest = (
        select(RunRow.id)
        .where(RunRow.dataset_id == DatasetRow.id, RunRow.deleted_at.is_(None))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .correlate(DatasetRow)
        .limit(NEWEST_LOOKED_AT)
        .subquery()
    )
    some = (
        select(
            case((HIDES, 1), else_=0).label("hides"),
            case((MAY_HIDE, 1), else_=0).label("may_hide"),
        )
        .join(newest, newest.c.id == FlagRow.run_id)
        .where(
            # Hidden from the index of states, by which SQLite would find all open flags of the
            # registry, and that for each dataset.
            func.coalesce(FlagRow.state, "") == FlagState.OPEN,
        )
        .correlate(DatasetRow)
        .limit(MOST_COUNTED_OF_EACH)
        .subquery()
    )
    counts = (func.count(), func.sum(some.c.hides), func.sum(some.c.may_hide))
    columns = [
        select(count).select_from(some).correlate(DatasetRow).scalar_subquery() for count in counts
    ]
    rows = session.execute(select(DatasetRow.id, *columns))
    return {
        dataset_id: OpenFlags(n_open, n_hides, n_may_hide)
        for dataset_id, n_open, n_hides, n_may_hide in rows
        if n_open
    }


def due_reports(session: Session, *, limit: int) -> list[DueReport]:
    """The reports that are made next."""
    rows = session.execute(
        select(ProjectRow.name, ScheduleRow.scope, ScheduleRow.name, ScheduleRow.next_due)
        .join(ProjectRow, ProjectRow.id == ScheduleRow.project_id)
        .where(ScheduleRow.next_due.is_not(None))
        .order_by(ScheduleRow.next_due, ScheduleRow.name)
        .limit(limit)
    )
    return [
        DueReport(project, scope.get("dataset"), name, _moment(due or 0.0))
        for project, scope, name, due in rows
    ]


def last_failures(session: Session, *, limit: int) -> list[Failure]:
    """What failed and was not tried again with success, the newest first; one statement."""
    jobs = select(
        literal(0).label("is_report"),
        literal("").label("project"),
        WorkRow.task.label("name"),
        WorkRow.id.label("number"),
        func.coalesce(WorkRow.error, "").label("error"),
        WorkRow.created_at.label("at"),
    ).where(WorkRow.state == "dead")
    issues = (
        select(
            literal(1),
            cast(ProjectRow.name, Text),
            cast(ReportEditionRow.name, Text),
            ReportEditionRow.number,
            func.coalesce(ReportEditionRow.error, ""),
            ReportEditionRow.due,
        )
        .join(ProjectRow, ProjectRow.id == ReportEditionRow.project_id)
        .where(ReportEditionRow.state == "failed")
    )
    both = union_all(jobs, issues).subquery()
    rows = session.execute(select(both).order_by(both.c.at.desc()).limit(limit))
    return [
        Failure(bool(row.is_report), row.project, row.name, row.number, row.error, _moment(row.at))
        for row in rows
    ]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


SHOWN_OF_EACH = 5
MOST_DUE = 100
"""Reports of which the next one of each dataset is found."""


@dataclass(frozen=True, slots=True)
class NewLabels:
    """A label version that came later than the first of its dataset."""

    project: str
    dataset: str
    number: int
    reason: str | None
    at: datetime


def label_versions_since(session: Session, at: datetime, *, limit: int) -> list[NewLabels]:
    """Corrections of labels after a moment, newest first."""
    rows = session.execute(
        select(
            ProjectRow.name,
            DatasetRow.name,
            TruthVersionRow.number,
            TruthVersionRow.reason,
            TruthVersionRow.created_at,
        )
        .join(DatasetRow, DatasetRow.id == TruthVersionRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .where(TruthVersionRow.number > 1, TruthVersionRow.created_at > at)
        .order_by(TruthVersionRow.created_at.desc(), TruthVersionRow.id.desc())
        .limit(limit)
    )
    return [NewLabels(*row) for row in rows]


def unlabelled_samples(session: Session) -> dict[int, int]:
    """How many examples runs predicted, by the id of each dataset without labels."""
    has_labels = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id == RunRow.dataset_id)
    rows = session.execute(
        select(RunRow.dataset_id, func.max(RunRow.n_predictions))
        .where(~has_labels.exists(), RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id)
    )
    return {dataset_id: n or 0 for dataset_id, n in rows}


@dataclass(frozen=True, slots=True)
class HomeOverview:
    """The datasets with their runs, and what asks for attention.

    `open_flags` counts flags of its newest runs by the id of a dataset, which is missing where
    these have none.
    """

    datasets: tuple[tuple[DatasetFacts, LoggedRuns], ...]
    open_flags: Mapping[int, OpenFlags]
    due: tuple[DueReport, ...]
    failures: tuple[Failure, ...]


def read_home(session: Session) -> HomeOverview:
    """All datasets, and the few things that come first elsewhere."""
    return HomeOverview(
        dataset_overview(session),
        open_flags_by_dataset(session),
        tuple(due_reports(session, limit=MOST_DUE)),
        tuple(last_failures(session, limit=SHOWN_OF_EACH)),
    )
