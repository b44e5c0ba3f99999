"""The lines of a runs list: runs found by other means, with the few metrics a line shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, case, func, select
from sqlalchemy.orm import Session

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.domain.values import MetricValue
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    PredictionChunkRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.queries.pending_work import EvaluationWork, evaluation_work
from offdiag.store.queries.run_badges import RunBadge
from offdiag.store.queries.run_entry_values import WorstClass, entry_values

COST = "mean_cost"
"""Listed where it is the cost under what the dataset is judged by now."""
LISTED_METRICS = (
    "overall_accuracy",
    "balanced_accuracy",
    "mcc",
    "majority_baseline",
    "n_classes_actual",
    COST,
)

LISTED_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard", "micro_f1", "macro_f1")
"""The same for runs whose cases have sets of labels."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One line of the list. `metrics` is empty until the run has been evaluated.

    `n_cases` counts the cases that the metrics are of, `n_unlabelled` those that wait for a
    label; `truth_number` is the version of the truth that the run is scored with.
    `badge` is None where the accuracy hides nothing that is known. `derived_from` is the run
    from whose scores it was decided, None for a logged one.
    """

    id: str
    name: str
    project: str
    dataset: str
    truth_number: int | None
    model: str | None
    state: RunState
    author: str | None
    tags: Mapping[str, object]
    created_at: datetime
    n_cases: int
    source: SourceOrientation
    orientation_verdict: str | None
    metrics: Mapping[str, MetricValue]
    worst_class: WorstClass | None
    work: EvaluationWork | None
    n_unlabelled: int = 0
    badge: RunBadge | None = None
    derived_from: str | None = None
    is_evaluated: bool = True


def logged_predictions() -> ColumnElement[int]:
    """Predictions of a run. The run itself knows their number only once it is finished."""
    so_far = (
        select(func.coalesce(func.sum(PredictionChunkRow.n), 0))
        .where(PredictionChunkRow.run_id == RunRow.id)
        .correlate(RunRow)
        .scalar_subquery()
    )
    return case((RunRow.state == RunState.OPEN, so_far), else_=RunRow.n_predictions)


RUN_COLUMNS = (
    RunRow.id,
    RunRow.name,
    ProjectRow.name.label("project"),
    DatasetRow.name.label("dataset"),
    TruthVersionRow.number.label("truth_number"),
    RunRow.model,
    RunRow.state,
    RunRow.author,
    RunRow.tags,
    RunRow.created_at,
    logged_predictions().label("n_predictions"),
    RunRow.source_orientation,
    RunRow.orientation_verdict,
    RunRow.derived_from,
    EvaluationRow.id.label("evaluation_id"),
    EvaluationRow.n_labelled,
    (EvaluationRow.n_cases - EvaluationRow.n_labelled).label("n_unlabelled"),
    (EvaluationRow.cost_matrix_id == DatasetRow.default_cost_matrix_id).label("costs_count"),
)
"""What has to be selected for a line, over run, dataset, project, truth and evaluation."""


def run_entries(
    session: Session,
    rows: Sequence[Row[*tuple[Any, ...]]],
    *,
    metrics: Sequence[str] = LISTED_METRICS,
) -> tuple[RunEntry, ...]:
    """The lines for rows of `RUN_COLUMNS`, in the same order; at most two statements.

    `metrics` are the keys of the aggregates that a line has.
    """
    evaluations = [row.evaluation_id for row in rows if row.evaluation_id is not None]
    found = entry_values(session, evaluations, metrics)
    work = evaluation_work(session, [row.id for row in rows if row.evaluation_id is None])
    return tuple(
        RunEntry(
            id=row.id,
            name=row.name,
            project=row.project,
            dataset=row.dataset,
            truth_number=row.truth_number,
            model=row.model,
            state=RunState(row.state),
            author=row.author,
            tags=row.tags,
            created_at=row.created_at,
            n_cases=row.n_predictions if row.n_labelled is None else row.n_labelled,
            source=SourceOrientation(row.source_orientation),
            orientation_verdict=row.orientation_verdict,
            metrics={
                key: value
                for key, value in found.metrics.get(row.evaluation_id, {}).items()
                if key != COST or row.costs_count
            },
            worst_class=found.worst.get(row.evaluation_id),
            work=work.get(row.id),
            n_unlabelled=row.n_unlabelled or 0,
            badge=found.badges.get(row.evaluation_id),
            derived_from=row.derived_from,
            is_evaluated=row.evaluation_id is not None,
        )
        for row in rows
    )
