"""What needs attention in a registry: failures, upcoming reports, new label versions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Text, cast, exists, func, literal, or_, select, union_all
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns, dataset_overview
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import (
    DatasetRow,
    DeliveryRow,
    EvaluationRow,
    ProjectRow,
    ReportEditionRow,
    RunRow,
    ScheduleRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.models.jobs import DELIVERY_KEY, EVALUATION_KEY, REPORT_KEY
from offdiag.store.truths import newest_numbers


@dataclass(frozen=True, slots=True)
class DueReport:
    """A scheduled report and the time at which it is due; `dataset` is None if it has none."""

    project: str
    dataset: str | None
    name: str
    due: datetime


@dataclass(frozen=True, slots=True)
class FailedRun:
    """The run that a failed job evaluates."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class FailedEdition:
    """The edition of a report that a failed job computes or delivers."""

    project: str
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that failed for good, or an edition of a report that could not be made.

    `number` is that of the job or of the edition; `name` the kind of job, or the report. `about`
    is what the job was for, None if that is gone.
    """

    is_report: bool
    project: str
    name: str
    number: int
    error: str
    at: datetime
    about: FailedRun | FailedEdition | None = None


def due_reports(session: Session, *, limit: int) -> list[DueReport]:
    """The scheduled reports that are due next, the earliest first."""
    rows = session.execute(
        select(ProjectRow.name, ScheduleRow.scope, ScheduleRow.name, ScheduleRow.next_due)
        .join(ProjectRow, ProjectRow.id == ScheduleRow.project_id)
        .where(ScheduleRow.next_due.is_not(None))
        .order_by(ScheduleRow.next_due, ScheduleRow.name)
        .limit(limit)
    )
    return [
        DueReport(project, scope.get("dataset"), name, _utc(due or 0.0))
        for project, scope, name, due in rows
    ]


def last_failures(session: Session, *, limit: int) -> list[Failure]:
    """Failures without a later successful retry, newest first."""
    jobs = select(
        literal(0).label("is_report"),
        literal("").label("project"),
        WorkRow.task.label("name"),
        WorkRow.id.label("number"),
        func.coalesce(WorkRow.error, "").label("error"),
        WorkRow.created_at.label("at"),
        WorkRow.key.label("key"),
    ).where(WorkRow.state == "dead")
    editions = (
        select(
            literal(1),
            cast(ProjectRow.name, Text),
            cast(ReportEditionRow.name, Text),
            ReportEditionRow.number,
            func.coalesce(ReportEditionRow.error, ""),
            ReportEditionRow.due,
            literal(""),
        )
        .join(ProjectRow, ProjectRow.id == ReportEditionRow.project_id)
        .where(ReportEditionRow.state == "failed")
    )
    both = union_all(jobs, editions).subquery()
    rows = session.execute(select(both).order_by(both.c.at.desc()).limit(limit)).all()
    about = _subjects(session, [row.key for row in rows if row.key])
    return [
        Failure(
            bool(row.is_report),
            row.project,
            row.name,
            row.number,
            row.error,
            _utc(row.at),
            about.get(row.key),
        )
        for row in rows
    ]


def _subjects(session: Session, keys: Collection[str]) -> dict[str, FailedRun | FailedEdition]:
    """What jobs are for, by their keys, such as `evaluate:r_bf94wz34n004`."""
    run_ids, edition_ids, delivery_ids = (
        [key.removeprefix(kind) for key in keys if key.startswith(kind)]
        for kind in (EVALUATION_KEY, REPORT_KEY, DELIVERY_KEY)
    )
    found: dict[str, FailedRun | FailedEdition] = {}
    if run_ids:
        runs = select(RunRow.id, RunRow.name).where(RunRow.id.in_(run_ids))
        for run_id, name in session.execute(runs):
            found[f"{EVALUATION_KEY}{run_id}"] = FailedRun(run_id, name)
    if edition_ids or delivery_ids:
        editions = (
            select(
                ProjectRow.name,
                ReportEditionRow.name,
                ReportEditionRow.number,
                ReportEditionRow.id,
                DeliveryRow.id,
            )
            .join(ProjectRow, ProjectRow.id == ReportEditionRow.project_id)
            .outerjoin(DeliveryRow, DeliveryRow.edition_id == ReportEditionRow.id)
            .where(
                or_(
                    ReportEditionRow.id.in_(map(int, edition_ids)),
                    DeliveryRow.id.in_(map(int, delivery_ids)),
                )
            )
        )
        for project, name, number, edition_id, delivery_id in session.execute(editions):
            edition = FailedEdition(project, name, number)
            found |= {
                f"{REPORT_KEY}{edition_id}": edition,
                f"{DELIVERY_KEY}{delivery_id}": edition,
            }
    return found


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


SHOWN_OF_EACH = 5
"""How many failures are listed."""
MOST_DUE = 100
"""How many reports are searched for the next one of each dataset."""


@dataclass(frozen=True, slots=True)
class NewLabels:
    """The newest label version of a dataset; `n_evaluated` of `n_runs` have results on it.

    Only runs with predictions are counted.
    """

    project: str
    dataset: str
    number: int
    reason: str | None
    at: datetime
    n_evaluated: int
    n_runs: int


def label_versions_since(session: Session, at: datetime, *, limit: int) -> list[NewLabels]:
    """The newest label version of each dataset if it was created after `at`, newest first.

    A dataset with only one version has none.
    """
    later = aliased(TruthVersionRow)
    is_newest = ~exists().where(
        later.dataset_id == TruthVersionRow.dataset_id, later.number > TruthVersionRow.number
    )
    of_runs = aliased(TruthVersionRow)
    n_runs = (
        select(func.count())
        .select_from(EvaluationRow)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(of_runs, of_runs.id == EvaluationRow.truth_version_id)
        .where(
            of_runs.root_id == TruthVersionRow.root_id,
            counts_for_its_run(),
            RunRow.deleted_at.is_(None),
            # An uploaded matrix cannot be counted again.
            RunRow.source_orientation == SourceOrientation.PREDICTIONS,
        )
        .correlate(TruthVersionRow)
    )
    n_evaluated = n_runs.where(EvaluationRow.truth_version_id == TruthVersionRow.id)
    rows = session.execute(
        select(
            ProjectRow.name,
            DatasetRow.name,
            TruthVersionRow.number,
            TruthVersionRow.reason,
            TruthVersionRow.created_at,
            n_evaluated.scalar_subquery(),
            n_runs.scalar_subquery(),
        )
        .join(DatasetRow, DatasetRow.id == TruthVersionRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .where(TruthVersionRow.number > 1, TruthVersionRow.created_at > at, is_newest)
        .order_by(TruthVersionRow.created_at.desc(), TruthVersionRow.id.desc())
        .limit(limit)
    )
    return [NewLabels(*row) for row in rows]


def unlabelled_samples(session: Session) -> dict[int, int]:
    """The most samples that a run predicted, by id of each dataset without labels."""
    has_labels = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id == RunRow.dataset_id)
    rows = session.execute(
        select(RunRow.dataset_id, func.max(RunRow.n_predictions))
        .where(~has_labels.exists(), RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id)
    )
    return {dataset_id: n or 0 for dataset_id, n in rows}


def runs_on_earlier_labels(session: Session, dataset_ids: Collection[int]) -> dict[int, int]:
    """How many runs have results on older labels than the newest ones, by id of the dataset."""
    newest = newest_numbers(dataset_ids)
    rows = session.execute(
        select(TruthVersionRow.dataset_id, func.count())
        .join(newest, newest.c.dataset_id == TruthVersionRow.dataset_id)
        .join(EvaluationRow, EvaluationRow.truth_version_id == TruthVersionRow.id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .where(
            TruthVersionRow.number < newest.c.number,
            counts_for_its_run(),
            RunRow.deleted_at.is_(None),
        )
        .group_by(TruthVersionRow.dataset_id)
    )
    return dict(rows.all())


@dataclass(frozen=True, slots=True)
class HomeOverview:
    """The datasets with their runs, upcoming reports and failures."""

    datasets: tuple[tuple[DatasetFacts, LoggedRuns], ...]
    due: tuple[DueReport, ...]
    failures: tuple[Failure, ...]


def read_home(session: Session) -> HomeOverview:
    """All datasets, and the few most urgent entries of the other lists."""
    return HomeOverview(
        dataset_overview(session),
        tuple(due_reports(session, limit=MOST_DUE)),
        tuple(last_failures(session, limit=SHOWN_OF_EACH)),
    )
