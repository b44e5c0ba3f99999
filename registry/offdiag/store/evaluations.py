"""Statements that read evaluations: the cache of everything computed from a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.summary import COST_KEYS
from offdiag.metrics.counted import Counted, matrix_of
from offdiag.store.class_values import ClassValues, unpack
from offdiag.store.count_codec import decode_counted
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
)
from offdiag.store.models.evaluations import AGGREGATE


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation of a run, or of a slice of it, as computed then.

    `n_cases` counts cases with and without a label, `n_labelled` those with one, which are
    `counted`. `matrix_digest` was taken of these when they were stored. `hides_minority` is the
    badge that the flags add up to, None where nothing can be said. `costs` are those of the
    errors under the cost matrix `cost_matrix_id`, empty where the dataset had none.
    """

    id: int
    run_id: str
    slice: str | None
    truth_version_id: int | None
    suite_version: int
    engine_version: str
    input_digest: str
    computed_at: datetime
    n_cases: int
    n_labelled: int
    counted: Counted
    matrix_digest: str
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]
    hides_minority: bool | None = None
    cost_matrix_id: int | None = None
    costs: Mapping[str, MetricValue] = field(default_factory=dict)

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix. Raises `Conflict` where cases have sets of labels."""
        return matrix_of(self.counted)


def current_evaluation(session: Session, run_id: str) -> StoredEvaluation | None:
    """The evaluation that counts for a run, None while there is none."""
    found = _stored(
        session,
        and_(
            EvaluationRow.run_id == run_id,
            counts_for_its_run(),
        ),
    )
    return found[0] if found else None


def current_evaluations(session: Session, run_id: str) -> list[StoredEvaluation]:
    """The evaluations that count for a run: of all its cases first, then of slices."""
    return _stored(session, and_(EvaluationRow.run_id == run_id, EvaluationRow.is_current))


def evaluation_of_inputs(
    session: Session, run_id: str, input_digest: str
) -> StoredEvaluation | None:
    """The evaluation of a run that was made from exactly these inputs."""
    found = _stored(
        session,
        and_(EvaluationRow.run_id == run_id, EvaluationRow.input_digest == input_digest),
    )
    return found[0] if found else None


def _stored(session: Session, condition: ColumnElement[bool]) -> list[StoredEvaluation]:
    rows = session.execute(
        select(EvaluationRow, ConfusionMatrixRow, LabelSetRow, ClassValuesRow)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .join(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .where(condition)
        .order_by(EvaluationRow.slice.is_not(None), EvaluationRow.slice)
    )
    return [
        _read(session, evaluation, matrix, label_set, packed)
        for evaluation, matrix, label_set, packed in rows.all()
    ]


def _read(
    session: Session,
    evaluation: EvaluationRow,
    matrix: ConfusionMatrixRow,
    label_set: LabelSetRow,
    packed: ClassValuesRow,
) -> StoredEvaluation:
    labels = LabelSet(tuple(label_set.names), label_set.ordinal)
    values = ClassValues(packed.keys, packed.reasons, packed.n_classes, packed.data)
    aggregate, costs = parted(_aggregates(session, evaluation.id))
    return StoredEvaluation(
        id=evaluation.id,
        run_id=evaluation.run_id,
        slice=evaluation.slice,
        truth_version_id=evaluation.truth_version_id,
        suite_version=evaluation.suite_version,
        engine_version=evaluation.engine_version,
        input_digest=evaluation.input_digest,
        computed_at=evaluation.computed_at,
        n_cases=evaluation.n_cases,
        n_labelled=evaluation.n_labelled,
        counted=decode_counted(matrix.cells, labels),
        matrix_digest=matrix.digest,
        aggregate=aggregate,
        per_class=unpack(values),
        hides_minority=evaluation.hides_minority,
        cost_matrix_id=evaluation.cost_matrix_id,
        costs=costs,
    )


def parted(
    values: Mapping[str, MetricValue],
) -> tuple[dict[str, MetricValue], dict[str, MetricValue]]:
    """What a matrix alone says, and what its errors cost."""
    return (
        {key: value for key, value in values.items() if key not in COST_KEYS},
        {key: value for key, value in values.items() if key in COST_KEYS},
    )


def _aggregates(session: Session, evaluation_id: int) -> dict[str, MetricValue]:
    rows = session.scalars(
        select(MetricValueRow).where(
            MetricValueRow.evaluation_id == evaluation_id,
            MetricValueRow.class_index == AGGREGATE,
        )
    )
    return {
        row.key: MetricValue(
            row.value, row.reason, row.tends_to, row.ci_low, row.ci_high, row.ci_method
        )
        for row in rows
    }
