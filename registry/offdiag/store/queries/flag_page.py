"""One flag with all that was judged: the matrix of its run, and by what."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.metrics.counted import Counted
from offdiag.store.count_codec import decode_counted
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.flags import record, revision
from offdiag.store.models import (
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
)
from offdiag.store.queries.flag_inbox import FlagEntry


@dataclass(frozen=True)
class JudgedResults:
    """The current results of a run, and by what its flags were raised.

    `cost_matrix_id` and `baseline_run_id` are None where there was none to judge by.
    """

    counted: Counted
    truth_version_id: int | None
    rules_digest: str | None
    cost_matrix_id: int | None
    baseline_run_id: str | None


@dataclass(frozen=True)
class FlaggedRun:
    """A flag with the results of its run, None where they are not there any more."""

    entry: FlagEntry
    source: SourceOrientation
    results: JudgedResults | None


def flagged_run(session: Session, flag_id: int) -> FlaggedRun | None:
    """One flag by number, in one statement; None if there is none or its run was deleted."""
    is_current = and_(
        EvaluationRow.run_id == RunRow.id,
        counts_for_its_run(),
    )
    found = session.execute(
        select(
            FlagRow,
            func.coalesce(revision(), 0),
            RunRow,
            DatasetRow.name,
            ProjectRow.name,
            DatasetRow.task,
            EvaluationRow,
            ConfusionMatrixRow,
            LabelSetRow,
        )
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .outerjoin(EvaluationRow, is_current)
        .outerjoin(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .outerjoin(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .where(FlagRow.id == flag_id, RunRow.deleted_at.is_(None))
    ).one_or_none()
    if found is None:
        return None
    flag, last_change, run, dataset, project, task, evaluation, matrix, labels = found
    return FlaggedRun(
        FlagEntry(record(flag), last_change, run.name, run.model, dataset, project, Task(task)),
        SourceOrientation(run.source_orientation),
        _results(evaluation, matrix, labels),
    )


def _results(
    evaluation: EvaluationRow | None, matrix: ConfusionMatrixRow | None, labels: LabelSetRow | None
) -> JudgedResults | None:
    if evaluation is None or matrix is None or labels is None:
        return None
    return JudgedResults(
        decode_counted(matrix.cells, LabelSet(tuple(labels.names), labels.ordinal)),
        evaluation.truth_version_id,
        evaluation.rules_digest,
        evaluation.cost_matrix_id,
        evaluation.baseline_run_id,
    )
