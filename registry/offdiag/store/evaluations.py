"""Statements that read evaluations: the cache of everything computed from a run.

They find the current evaluation of a run, its earlier ones, and runs that still wait for theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Select, and_, exists, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.summary import COST_KEYS
from offdiag.metrics.counted import Counted, matrix_of
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store.codec import damage_of, damaged, decode_counted
from offdiag.store.datasets import stored_labels
from offdiag.store.evaluation_codec import ClassValues, UnpackedValues
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    RunRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.models.base import record_as
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.models.jobs import EVALUATION_KEY


def counts_for_its_run(evaluation: type[EvaluationRow] = EvaluationRow) -> ColumnElement[bool]:
    """The condition for the current evaluation of all samples, not those of slices.

    Each run has at most one, which a unique index on the same condition guarantees.
    """
    return and_(evaluation.is_current, evaluation.slice.is_(None))


def has_results_of_run() -> ColumnElement[bool]:
    """The condition for the evaluation that counts for a run, over both tables."""
    return and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run())


def has_newer_results(session: Session, run_id: str) -> bool:
    """Whether the results of a run come from a newer version of the metrics than this one."""
    newer = exists().where(
        EvaluationRow.run_id == run_id,
        counts_for_its_run(),
        EvaluationRow.suite_version > SUITE_VERSION,
    )
    return bool(session.scalar(select(newer)))


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation of a run, or of a slice of it, as it was computed.

    `n_cases` counts samples with and without a label, `n_labelled` those with one, which are
    `counted`. `matrix_digest` was computed from the latter when they were stored. `hides_minority`
    is the badge that the flags add up to, None if nothing can be said. `costs` are those of the
    errors under the cost matrix `cost_matrix_id`, empty if the dataset had none. An evaluation of
    a slice has no `rules_digest`, because rules do not judge slices.
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
    rules_digest: str | None = None

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix. Raises `Conflict` for multi-label samples."""
        return matrix_of(self.counted)


def current_key(session: Session, run_id: str) -> tuple[int, int | None] | None:
    """Id and label version of the current evaluation of a run, None if it has none."""
    found = session.execute(
        select(EvaluationRow.id, EvaluationRow.truth_version_id).where(
            EvaluationRow.run_id == run_id, counts_for_its_run()
        )
    ).one_or_none()
    return None if found is None else (found.id, found.truth_version_id)


def current_evaluation(session: Session, run_id: str) -> StoredEvaluation | None:
    """The current evaluation of a run, None if it has none."""
    found = _stored(session, and_(EvaluationRow.run_id == run_id, counts_for_its_run()))
    return found[0] if found else None


def current_evaluations(session: Session, run_id: str) -> list[StoredEvaluation]:
    """The current evaluations of a run: the one of all samples first, then those of slices."""
    return _stored(session, and_(EvaluationRow.run_id == run_id, EvaluationRow.is_current))


def evaluation_of_inputs(
    session: Session, run_id: str, input_digest: str
) -> StoredEvaluation | None:
    """The evaluation of a run that was made from exactly these inputs."""
    is_of_inputs = EvaluationRow.input_digest == input_digest
    found = _stored(session, and_(EvaluationRow.run_id == run_id, is_of_inputs))
    return found[0] if found else None


def _stored(session: Session, condition: ColumnElement[bool]) -> list[StoredEvaluation]:
    rows = session.execute(
        select(
            EvaluationRow,
            ConfusionMatrixRow,
            LabelSetRow,
            ClassValuesRow,
            DatasetRow.labels_inferred,
        )
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .join(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(condition)
        .order_by(EvaluationRow.slice.is_not(None), EvaluationRow.slice)
    )
    return [
        _read(
            session,
            evaluation,
            matrix,
            stored_labels(label_set, inferred=inferred),
            packed,
        )
        for evaluation, matrix, label_set, packed, inferred in rows.all()
    ]


def _read(
    session: Session,
    evaluation: EvaluationRow,
    matrix: ConfusionMatrixRow,
    labels: LabelSet,
    packed: ClassValuesRow,
) -> StoredEvaluation:
    run_id = evaluation.run_id
    aggregate, costs = parted(aggregates_of(session, [evaluation.id]).get(evaluation.id, {}))
    return record_as(
        StoredEvaluation,
        evaluation,
        counted=stored_counts(run_id, matrix.cells, matrix.digest, labels),
        matrix_digest=matrix.digest,
        aggregate=aggregate,
        per_class=stored_values(run_id, packed, len(labels)),
        costs=costs,
    )


def stored_counts(run_id: str, cells: bytes, digest: str, labels: LabelSet) -> Counted:
    """What an evaluation of a run was computed from. Raises `DamagedData`."""
    seen = hash(cells), labels.digest, digest
    with damage_of(f"matrix of run {run_id}"):
        counted = decode_counted(cells, labels)
        if seen not in _intact:
            if counted.digest != digest:
                raise damaged("its counts or labels are not those of its digest.")
            if len(_intact) >= _MOST_INTACT:
                _intact.clear()
            _intact.add(seen)
    return counted


_intact: set[tuple[int, str, str]] = set()
"""Cells that this process has found to be those of their digest, which takes longer than reading
them: 10 ms for 1,000 classes."""
_MOST_INTACT = 10_000


def stored_values(run_id: str, packed: ClassValuesRow, n_classes: int) -> UnpackedValues:
    """The values of the classes of an evaluation of a run. Raises `DamagedData`."""
    with damage_of(f"values of the classes of run {run_id}"):
        if packed.n_classes != n_classes:
            raise damaged(f"they are of {packed.n_classes} classes, not of {n_classes}.")
        return UnpackedValues(
            ClassValues(packed.keys, packed.reasons, packed.n_classes, packed.data)
        )


def parted(
    values: Mapping[str, MetricValue],
) -> tuple[dict[str, MetricValue], dict[str, MetricValue]]:
    """Split values into those of the matrix alone and those of what its errors cost."""
    return (
        {key: value for key, value in values.items() if key not in COST_KEYS},
        {key: value for key, value in values.items() if key in COST_KEYS},
    )


def aggregates_of(
    session: Session, evaluation_ids: Collection[int], keys: Collection[str] | None = None
) -> dict[int, dict[str, MetricValue]]:
    """Aggregates by evaluation and key, sorted by key: all, or those among `keys`."""
    wanted = select_values().where(
        MetricValueRow.evaluation_id.in_(evaluation_ids), MetricValueRow.class_index == AGGREGATE
    )
    if keys is not None:
        wanted = wanted.where(MetricValueRow.key.in_(keys))
    found: dict[int, dict[str, MetricValue]] = {}
    for row in session.execute(wanted.order_by(MetricValueRow.key)):
        found.setdefault(row.evaluation_id, {})[row.key] = recorded_value(row)
    return found


def aggregates_by_matrix(
    session: Session, run_ids: Collection[str]
) -> dict[tuple[str, str], dict[str, MetricValue]]:
    """Aggregates by key, with their intervals, by run and digest of the matrix they are of.

    Those of current evaluations by this version of the metrics.
    """
    rows = session.execute(
        select(EvaluationRow.id, EvaluationRow.run_id, ConfusionMatrixRow.digest)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            EvaluationRow.suite_version == SUITE_VERSION,
        )
    ).all()
    values = aggregates_of(session, [row.id for row in rows])
    return {(row.run_id, row.digest): values.get(row.id, {}) for row in rows}


def scored_otherwise(session: Session, run_ids: Collection[str]) -> set[str]:
    """Those of some runs whose results say that their scores are not probabilities."""
    found = session.scalars(
        select(EvaluationRow.run_id)
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key == "brier_sum",
            MetricValueRow.reason == Reason.SCORES_NOT_PROBABILITIES,
        )
    )
    return set(found)


VALUE_COLUMNS = (
    MetricValueRow.evaluation_id,
    MetricValueRow.key,
    MetricValueRow.class_index,
    MetricValueRow.value,
    MetricValueRow.reason,
    MetricValueRow.tends_to,
    MetricValueRow.ci_low,
    MetricValueRow.ci_high,
    MetricValueRow.ci_method,
)


def select_values() -> Select[*tuple[Any, ...]]:
    """A query for all columns of a metric value, to be narrowed by the caller."""
    return select(*VALUE_COLUMNS)


def recorded_value(row: Row[*tuple[Any, ...]]) -> MetricValue:
    """The metric value in a row of `select_values`."""
    return MetricValue(row.value, row.reason, row.tends_to, row.ci_low, row.ci_high, row.ci_method)


WorkState = Literal["todo", "doing", "dead"]
_URGENCY: dict[WorkState, int] = {"dead": 0, "todo": 1, "doing": 2}


@dataclass(frozen=True, slots=True)
class EvaluationWork:
    """The evaluation job of a run."""

    id: int
    state: WorkState
    asked_at: datetime
    attempts: int
    error: str | None


def evaluation_work(session: Session, run_ids: Sequence[str]) -> dict[str, EvaluationWork]:
    """The evaluation job of each run that has one; a running job hides those waiting behind it."""
    if not run_ids:
        return {}
    key_of = {f"{EVALUATION_KEY}{run_id}": run_id for run_id in run_ids}
    rows = session.execute(
        select(
            WorkRow.id,
            WorkRow.key,
            WorkRow.state,
            WorkRow.created_at,
            WorkRow.attempts,
            WorkRow.error,
        ).where(WorkRow.key.in_(key_of))
    )
    found = [
        (
            key_of[row.key],
            record_as(EvaluationWork, row, asked_at=datetime.fromtimestamp(row.created_at, UTC)),
        )
        for row in rows
    ]
    return dict(sorted(found, key=lambda entry: _URGENCY[entry[1].state]))


@dataclass(frozen=True, slots=True)
class PastEvaluation:
    """One evaluation with its main numbers.

    `truth_number` is None for an uploaded matrix that was compared with no labels.
    """

    id: int
    slice: str | None
    truth_number: int | None
    suite_version: int
    engine_version: str
    rules_digest: str | None
    n_cases: int
    n_labelled: int
    is_current: bool
    computed_at: datetime
    metrics: Mapping[str, MetricValue]


def evaluation_history(
    session: Session, run_id: str, *, keys: Collection[str]
) -> tuple[PastEvaluation, ...]:
    """The evaluations of a run, oldest first, each with the aggregates `keys`; one statement."""
    rows = session.execute(
        select(EvaluationRow, TruthVersionRow.number, *VALUE_COLUMNS)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .outerjoin(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == EvaluationRow.id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key.in_(keys),
            ),
        )
        .where(EvaluationRow.run_id == run_id)
        .order_by(EvaluationRow.id)
    ).all()
    values: dict[int, dict[str, MetricValue]] = {}
    for row in rows:
        known = values.setdefault(row[0].id, {})
        if row.key is not None:
            known[row.key] = recorded_value(row)
    found = {row[0].id: (row[0], row.number) for row in rows}
    return tuple(
        record_as(PastEvaluation, row, truth_number=number, metrics=values[row.id])
        for row, number in found.values()
    )
