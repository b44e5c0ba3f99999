"""Reading the run page: one run with everything known about it, in at most two statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, case, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState, Task
from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, matrix_of
from offdiag.store.datasets import hierarchy_of, stored_labels
from offdiag.store.evaluations import (
    EvaluationWork,
    aggregates_of,
    evaluation_work,
    has_results_of_run,
    parted,
    stored_counts,
    stored_values,
)
from offdiag.store.flag_conditions import SEVERITY_RANK
from offdiag.store.flags import FlagRecord, record
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.base import PlainText, record_as
from offdiag.store.outdated import OutdatedResults, outdated_results
from offdiag.store.run_neighbours import Measured, RunNeighbours, neighbour_columns, values_alike
from offdiag.store.run_rows import logged_predictions
from offdiag.store.runs import RunRecord, no_run, recorded
from offdiag.store.truths import TruthRecord, newest_number, truth_record

_RUN = "run_id"

MOST_FLAGS = 200
"""Beyond this number the flags of a run are only counted."""


@dataclass(frozen=True, slots=True)
class RunFlags:
    """Flags that fire, triaged or not, most severe first; those of the badge before others.

    `accuracy_rank` and `balanced_rank` are the ranks of the run by accuracy and by balanced
    accuracy among the `n_ranked` runs on its labels. They are determined if a flag of the badge
    says what the accuracy hides, and otherwise None.
    """

    flags: tuple[FlagRecord, ...] = ()
    n_firing: int = 0
    accuracy_rank: int | None = None
    n_ranked: int = 0
    balanced_rank: int | None = None


def run_flags(session: Session, run_id: str) -> RunFlags:
    """The flags of a run, in one statement."""
    rows = session.execute(_firing(), {_RUN: run_id}).all()
    if not rows:
        return RunFlags()
    flags, n_firing = tuple(record(row[0]) for row in rows), rows[0].n_firing
    ranked = next((row for row in rows if row.n_ranked), None)
    if ranked is None:
        return RunFlags(flags, n_firing)
    return RunFlags(
        flags,
        n_firing,
        accuracy_rank=ranked.n_higher + 1,
        n_ranked=ranked.n_ranked,
        balanced_rank=ranked.n_higher_balanced + 1,
    )


@cache
def _firing() -> Select[*tuple[Any, ...]]:
    """The statement, which takes far longer to build than to execute."""
    run_id: ColumnElement[str] = bindparam(_RUN, type_=PlainText)
    keys = ("overall_accuracy", "balanced_accuracy")
    alike = values_alike(run_id, keys)

    def of_badge(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
        """How many runs on these labels meet the conditions; evaluated for badge flags only."""
        n_runs = select(func.count()).select_from(alike).where(*conditions).scalar_subquery()
        return case((FlagRow.in_badge, n_runs))

    n_higher, n_higher_balanced = (
        of_badge(alike.c[key] > Measured(run_id, key).value) for key in keys
    )
    return (
        select(
            FlagRow,
            func.count().over().label("n_firing"),
            n_higher.label("n_higher"),
            n_higher_balanced.label("n_higher_balanced"),
            of_badge().label("n_ranked"),
        )
        .where(FlagRow.run_id == run_id, FlagRow.state != FlagState.CLOSED)
        .order_by(SEVERITY_RANK.desc(), FlagRow.in_badge.desc(), FlagRow.id)
        .limit(MOST_FLAGS)
    )


NO_FLAGS = RunFlags()
ALONE = RunNeighbours()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader(RunRecord):
    """A run with its dataset, without its results; `orientation_evidence` as it was recorded.

    `truth` is the label version it was finished with, None for an open run and for an uploaded
    matrix without labels.
    """

    project: str
    dataset: str
    task: Task
    labels: LabelSet
    positive_label: str | None
    positive_by_convention: bool
    truth: TruthRecord | None
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """What the current results were computed from, when, and how fast.

    `n_cases` counts the samples that were scored, `n_unlabelled` those that wait for a label.
    `truth_number` is the label version they were scored with, which may correct the one the run
    was logged with; None for an uploaded matrix without labels. `newest_truth_number` is the one
    that a new evaluation would use; `truth_id` is the id of `truth_number`.
    """

    id: int
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    n_cases: int
    computed_at: datetime
    duration_s: float
    n_unlabelled: int = 0
    truth_number: int | None = None
    newest_truth_number: int | None = None
    truth_id: int | None = None
    hides_minority: bool | None = None


@dataclass(frozen=True, slots=True)
class RunCosts:
    """What the errors cost, and the version of the cost matrix that was used."""

    name: str
    version: int
    currency: str | None
    values: Mapping[str, MetricValue]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return {
            "name": self.name,
            "version": self.version,
            "currency": self.currency,
            "values": {key: value.to_dict() for key, value in self.values.items()},
        }


@dataclass(frozen=True, slots=True)
class RunResults:
    """The current evaluation. Per-class values are in label order, by key.

    `costs` is None if the dataset had no cost matrix when it was evaluated.
    """

    facts: EvaluationFacts
    counted: Counted
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]
    costs: RunCosts | None = None

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix. Raises `Conflict` for multi-label samples."""
        return matrix_of(self.counted)


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run, its results if there are any, and its pending job.

    `outdated` says why results are stale, and is None if they are not.
    """

    run: RunHeader
    results: RunResults | None
    work: EvaluationWork | None
    outdated: OutdatedResults | None = None
    flags: RunFlags = NO_FLAGS
    neighbours: RunNeighbours = ALONE


def read_run(session: Session, run_id: str, *, aggregates: bool = True) -> RunDetail:
    """A run with its flags, and whether its results are out of date. Raises `NotFound`.

    `aggregates` is as in `run_detail`.
    """
    detail = run_detail(session, run_id, aggregates=aggregates)
    if detail.results is None:
        return detail
    has_failed = detail.run.state is RunState.FAILED
    outdated = outdated_results(session, run_id, has_failed=has_failed)
    return replace(detail, outdated=outdated, flags=run_flags(session, run_id))


def run_detail(session: Session, run_id: str, *, aggregates: bool = True) -> RunDetail:
    """Everything the pages of one run show. Raises `NotFound`.

    `aggregates` take a statement of their own; without them results have neither these nor costs.
    """
    found = session.execute(_run_with_results(), {_RUN: run_id}).one_or_none()
    if found is None:
        raise no_run(session, run_id)
    of_run, of_results = found[:6], found[6:-5]
    around = RunNeighbours(*found[-5:])
    header, evaluation = _header(of_run), of_results[0]
    if evaluation is None:
        work = evaluation_work(session, [run_id])
        return RunDetail(header, None, work.get(run_id), neighbours=around)
    known = aggregates_of(session, [evaluation.id]) if aggregates else {}
    values = known.get(evaluation.id, {})
    results = _results(of_results, values, inferred=header.labels.inferred)
    return RunDetail(header, results, None, neighbours=around)


@cache
def _run_with_results() -> Select[*tuple[Any, ...]]:
    """A query for a run, its current evaluation (NULL if there is none), and its neighbours.

    It takes far longer to build than to execute.
    """
    of_matrix, scored_with = aliased(LabelSetRow), aliased(TruthVersionRow)
    return (
        select(
            *(RunRow, ProjectRow.name, DatasetRow, LabelSetRow, TruthVersionRow),
            logged_predictions(),
            *(EvaluationRow, ConfusionMatrixRow, of_matrix, ClassValuesRow, scored_with.number),
            newest_number(scored_with),
            CostMatrixRow,
            *neighbour_columns(),
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
        .outerjoin(EvaluationRow, has_results_of_run())
        .outerjoin(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .outerjoin(of_matrix, of_matrix.id == ConfusionMatrixRow.label_set_id)
        .outerjoin(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .outerjoin(scored_with, scored_with.id == EvaluationRow.truth_version_id)
        .outerjoin(CostMatrixRow, CostMatrixRow.id == EvaluationRow.cost_matrix_id)
        .where(RunRow.id == bindparam(_RUN, type_=PlainText), RunRow.deleted_at.is_(None))
    )


def _header(found: Sequence[Any]) -> RunHeader:
    run, project, dataset, label_set, truth, n_predictions = found
    fields = recorded(run) | {"n_predictions": int(n_predictions)}
    return RunHeader(
        **fields,
        project=project,
        dataset=dataset.name,
        task=Task(dataset.task),
        labels=stored_labels(label_set, inferred=dataset.labels_inferred),
        positive_label=dataset.positive_label,
        positive_by_convention=dataset.positive_by_convention,
        truth=truth_record(truth),
        hierarchy=hierarchy_of(dataset),
    )


def _results(
    found: Sequence[Any], values: Mapping[str, MetricValue], *, inferred: bool
) -> RunResults:
    evaluation, stored, label_set, packed, truth_number, newest_number, cost_row = found
    labels, run_id = stored_labels(label_set, inferred=inferred), evaluation.run_id
    aggregate, costs = parted(values)
    return RunResults(
        facts=record_as(
            EvaluationFacts,
            evaluation,
            matrix_digest=stored.digest,
            n_cases=evaluation.n_labelled,
            n_unlabelled=evaluation.n_cases - evaluation.n_labelled,
            truth_number=truth_number,
            newest_truth_number=newest_number,
            truth_id=evaluation.truth_version_id,
        ),
        counted=stored_counts(run_id, stored.cells, stored.digest, labels),
        aggregate=aggregate,
        per_class=stored_values(run_id, packed, len(labels)),
        costs=None
        if cost_row is None or not costs
        else record_as(RunCosts, cost_row, values=costs),
    )
