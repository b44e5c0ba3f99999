"""The run page: one run with everything that is known of it, in at most two statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ScalarSelect, Select, and_, bindparam, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.domain.values import MetricValue
from offdiag.errors import NotFound
from offdiag.store import class_values
from offdiag.store.count_codec import decode_counted
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.datasets import hierarchy_of
from offdiag.store.evaluations import parted
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.pending_work import evaluation_work
from offdiag.store.queries.recorded_values import recorded_value, select_values
from offdiag.store.queries.run_detail import (
    EvaluationFacts,
    RunCosts,
    RunDetail,
    RunHeader,
    RunResults,
    TruthFacts,
)
from offdiag.store.queries.run_entries import logged_predictions
from offdiag.store.queries.run_surroundings import RunSurroundings, surroundings_columns
from offdiag.store.runs import decision_of, derivation_of
from offdiag.store.types import PlainText

_RUN = "run_id"


def run_detail(session: Session, run_id: str, *, aggregates: bool = True) -> RunDetail:
    """Everything the pages of one run show. Raises `NotFound`.

    Without `aggregates`, which take a statement of their own, results have neither those nor
    costs.
    """
    found = session.execute(_run_with_results(), {_RUN: run_id}).one_or_none()
    if found is None:
        raise NotFound(
            f"there is no run {run_id!r}.",
            field="run",
            hint="It may have been deleted, or the link is incomplete.",
        )
    of_run, of_results, around = found[:6], found[6:-3], RunSurroundings(*found[-3:])
    header, evaluation = _header(of_run), of_results[0]
    if evaluation is None:
        work = evaluation_work(session, [run_id])
        return RunDetail(header, None, work.get(run_id), surroundings=around)
    values = _aggregates(session, evaluation.id) if aggregates else {}
    results = _results(of_results, values, inferred=header.labels.inferred)
    return RunDetail(header, results, None, surroundings=around)


@cache
def _run_with_results() -> Select[*tuple[Any, ...]]:
    """A run, its current evaluation, all of whose columns are empty where there is none, and
    its surroundings: a statement that takes far longer to build than to run."""
    of_matrix, scored_with = aliased(LabelSetRow), aliased(TruthVersionRow)
    is_current = and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run())
    return (
        select(
            *(RunRow, ProjectRow.name, DatasetRow, LabelSetRow, TruthVersionRow),
            logged_predictions(),
            *(EvaluationRow, ConfusionMatrixRow, of_matrix, ClassValuesRow, scored_with.number),
            _newest_number(scored_with),
            CostMatrixRow,
            *surroundings_columns(),
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
        .outerjoin(EvaluationRow, is_current)
        .outerjoin(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .outerjoin(of_matrix, of_matrix.id == ConfusionMatrixRow.label_set_id)
        .outerjoin(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .outerjoin(scored_with, scored_with.id == EvaluationRow.truth_version_id)
        .outerjoin(CostMatrixRow, CostMatrixRow.id == EvaluationRow.cost_matrix_id)
        .where(RunRow.id == bindparam(_RUN, type_=PlainText), RunRow.deleted_at.is_(None))
    )


def _header(found: Sequence[Any]) -> RunHeader:
    run, project, dataset, label_set, truth, n_predictions = found
    return RunHeader(
        id=run.id,
        name=run.name,
        project=project,
        dataset=dataset.name,
        task=Task(dataset.task),
        labels=LabelSet(tuple(label_set.names), label_set.ordinal, dataset.labels_inferred),
        positive_label=dataset.positive_label,
        positive_by_convention=dataset.positive_by_convention,
        truth=_truth(truth),
        model=run.model,
        state=RunState(run.state),
        params=run.params,
        tags=run.tags,
        author=run.author,
        git_sha=run.git_sha,
        source=SourceOrientation(run.source_orientation),
        orientation_verdict=run.orientation_verdict,
        orientation_evidence=run.orientation_evidence,
        n_predictions=int(n_predictions),
        score_columns=run.score_columns,
        content_digest=run.content_digest,
        created_at=run.created_at,
        finished_at=run.finished_at,
        derivation=derivation_of(run),
        decision=decision_of(run),
        hierarchy=hierarchy_of(dataset),
    )


def _truth(row: TruthVersionRow | None) -> TruthFacts | None:
    """Absent for an open run and for an uploaded matrix, hence the outer join."""
    if row is None:
        return None
    return TruthFacts(
        row.id,
        row.root_id,
        row.number,
        row.digest,
        row.n_samples,
        tuple(row.class_counts),
        row.id_kind,
    )


def _aggregates(session: Session, evaluation_id: int) -> dict[str, MetricValue]:
    rows = session.execute(
        select_values().where(
            MetricValueRow.evaluation_id == evaluation_id,
            MetricValueRow.class_index == AGGREGATE,
        )
    )
    return {row.key: recorded_value(row) for row in rows}


def _results(
    found: Sequence[Any], values: Mapping[str, MetricValue], *, inferred: bool
) -> RunResults:
    evaluation, stored, label_set, packed, truth_number, newest_number, priced_by = found
    labels = LabelSet(tuple(label_set.names), label_set.ordinal, inferred)
    aggregate, costs = parted(values)
    return RunResults(
        facts=EvaluationFacts(
            id=evaluation.id,
            suite_version=evaluation.suite_version,
            engine_version=evaluation.engine_version,
            input_digest=evaluation.input_digest,
            matrix_digest=stored.digest,
            n_cases=evaluation.n_labelled,
            computed_at=evaluation.computed_at,
            duration_s=evaluation.duration_s,
            n_unlabelled=evaluation.n_cases - evaluation.n_labelled,
            truth_number=truth_number,
            newest_truth_number=newest_number,
            truth_id=evaluation.truth_version_id,
        ),
        counted=decode_counted(stored.cells, labels),
        aggregate=aggregate,
        per_class=class_values.unpack(
            class_values.ClassValues(packed.keys, packed.reasons, packed.n_classes, packed.data)
        ),
        costs=None if priced_by is None or not costs else _costs(priced_by, costs),
    )


def _costs(by: CostMatrixRow, values: Mapping[str, MetricValue]) -> RunCosts:
    return RunCosts(by.name, by.version, by.currency, values)


def _newest_number(scored_with: type[TruthVersionRow]) -> ScalarSelect[int | None]:
    """Number of the newest version in the lineage of a truth version."""
    newer = aliased(TruthVersionRow)
    return (
        select(func.max(newer.number))
        .where(
            newer.dataset_id == scored_with.dataset_id,
            newer.root_id == scored_with.root_id,
        )
        .correlate(scored_with)
        .scalar_subquery()
    )
