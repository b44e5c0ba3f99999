"""Statements that store evaluations and their curves: the cache of what is computed from runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, insert, or_, select, update
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.summary import COST_KEYS
from offdiag.metrics.counted import Counted
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.store.codec import damage_of, encode_counted
from offdiag.store.datasets import label_set_id
from offdiag.store.evaluation_codec import (
    decode_bins,
    decode_histogram,
    decode_points,
    encode_bins,
    encode_histogram,
    encode_points,
    pack,
)
from offdiag.store.evaluations import (
    StoredEvaluation,
    counts_for_its_run,
    recorded_value,
    select_values,
)
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
    ScoreCurveRow,
)
from offdiag.store.models.evaluations import AGGREGATE

_COLUMNS = (
    *("class_index", "n_positive", "n_negative", "n_thresholds"),
    *("points", "bins", "histogram"),
)


def write_curves(session: Session, evaluation_id: int, curves: Sequence[ScoreCurve]) -> None:
    """Store the curves of an evaluation that has none yet."""
    are_there = exists().where(ScoreCurveRow.evaluation_id == evaluation_id)
    if not curves or session.scalar(select(are_there)):
        return
    session.execute(
        insert(ScoreCurveRow),
        [{"evaluation_id": evaluation_id, **_columns(curve)} for curve in curves],
    )


def _lowest_recall(per_class: Mapping[str, Sequence[MetricValue]]) -> float | None:
    recalls = per_class["recall"]
    return min((each.value for each in recalls if each.value is not None), default=None)


def is_found_by_its_values(session: Session, stored: StoredEvaluation) -> bool:
    """Whether lists of runs filter and sort by the values of classes that an evaluation has."""
    lowest = select(EvaluationRow.lowest_recall).where(EvaluationRow.id == stored.id)
    rows = session.execute(
        select_values().where(
            MetricValueRow.evaluation_id == stored.id, MetricValueRow.class_index != AGGREGATE
        )
    )
    indexed = {(row.key, row.class_index): recorded_value(row) for row in rows}
    return session.scalar(lowest) == _lowest_recall(stored.per_class) and indexed == {
        (key, index): value
        for key in INDEXED_CLASS_KEYS
        for index, value in enumerate(stored.per_class[key])
    }


def has_others(session: Session, evaluation_id: int, curves: Sequence[ScoreCurve]) -> bool:
    """Whether an evaluation has curves that differ from these in any bit."""
    columns = [ScoreCurveRow.__table__.c[name] for name in _COLUMNS]
    rows = session.execute(
        select(*columns)
        .where(ScoreCurveRow.evaluation_id == evaluation_id)
        .order_by(ScoreCurveRow.class_index)
    )
    wanted = sorted(curves, key=lambda curve: curve.code)
    kept = [tuple(row) for row in rows]
    return bool(kept) and kept != [tuple(_columns(curve).values()) for curve in wanted]


def read_curves(
    session: Session, evaluation_id: int, codes: Collection[int] | None = None
) -> dict[int, ScoreCurve]:
    """The curves of an evaluation by class code: all, or those among `codes`."""
    statement = (
        select(ScoreCurveRow)
        .where(ScoreCurveRow.evaluation_id == evaluation_id)
        .order_by(ScoreCurveRow.class_index)
    )
    if codes is not None:
        statement = statement.where(ScoreCurveRow.class_index.in_(codes))
    return {row.class_index: _curve(row) for row in session.scalars(statement)}


def curves_of_runs(
    session: Session, run_ids: Sequence[str], codes: Collection[int]
) -> dict[str, dict[int, ScoreCurve]]:
    """The curves of the current evaluation of each run, by run and class code among `codes`."""
    rows = session.execute(
        select(EvaluationRow.run_id, ScoreCurveRow)
        .join(ScoreCurveRow, ScoreCurveRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            ScoreCurveRow.class_index.in_(codes),
        )
    )
    found: dict[str, dict[int, ScoreCurve]] = {}
    for run_id, row in rows:
        found.setdefault(run_id, {})[row.class_index] = _curve(row)
    return found


def _columns(curve: ScoreCurve) -> dict[str, int | bytes | None]:
    """The columns of a curve, by the names in `_COLUMNS`."""
    values = (
        *(curve.code, curve.points.n_positive, curve.points.n_negative),
        *(curve.points.n_thresholds, encode_points(curve.points)),
        None if curve.bins is None else encode_bins(curve.bins),
        encode_histogram(curve.histogram),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _curve(row: ScoreCurveRow) -> ScoreCurve:
    totals = {"n_positive": row.n_positive, "n_negative": row.n_negative}
    with damage_of(f"curve {row.class_index} of evaluation {row.evaluation_id}"):
        return ScoreCurve(
            row.class_index,
            decode_points(row.points, n_thresholds=row.n_thresholds, **totals),
            None if row.bins is None else decode_bins(row.bins),
            decode_histogram(row.histogram, **totals),
        )


INDEXED_CLASS_KEYS = ("recall", "precision", "f1", "support")
"""Per-class values with rows of their own, so that lists can sort and filter by them."""
_NEW_VALUES = insert(MetricValueRow).execution_options(render_nulls=True)
"""One statement for all values; otherwise each change of empty columns would begin another one."""


@dataclass(frozen=True)
class NewEvaluation:
    """What was computed for one run, or for one slice of it.

    `n_cases` counts samples with and without a label; those with one are `counted`. `per_class`
    holds K values per key, in label order. `curves` are those of the scores, if there are any.
    """

    run_id: str
    truth_version_id: int | None
    suite_version: int
    engine_version: str
    input_digest: str
    n_cases: int
    counted: Counted
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]
    duration_s: float
    slice: str | None = None
    curves: Sequence[ScoreCurve] = ()


def write_evaluation(
    session: Session, evaluation: NewEvaluation, now: datetime, *, counts: bool = True
) -> int:
    """Store an evaluation, only once for the same inputs, and return its id.

    If it `counts`, it becomes the current one of its run or slice; otherwise it is history from
    the start.
    """
    if counts:
        session.execute(
            update(EvaluationRow)
            .where(
                EvaluationRow.run_id == evaluation.run_id,
                EvaluationRow.is_current,
                EvaluationRow.input_digest != evaluation.input_digest,
                _superseded_by(evaluation),
            )
            .values(is_current=False)
        )
    known = session.scalar(
        select(EvaluationRow.id).where(
            EvaluationRow.run_id == evaluation.run_id,
            EvaluationRow.input_digest == evaluation.input_digest,
        )
    )
    if known is None:
        known = _insert(session, evaluation, now, counts=counts)
    elif counts:
        session.execute(
            update(EvaluationRow).where(EvaluationRow.id == known).values(is_current=True)
        )
    write_curves(session, known, evaluation.curves)
    return known


def keep_costs(session: Session, evaluation_id: int, values: Mapping[str, MetricValue]) -> None:
    """Store what the errors of an evaluation cost, replacing earlier costs.

    The costs of a dataset may change while all other inputs of an evaluation stay the same, so
    they are written separately.
    """
    session.execute(
        delete(MetricValueRow).where(
            MetricValueRow.evaluation_id == evaluation_id,
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.in_(COST_KEYS),
        )
    )
    if values:
        session.execute(
            _NEW_VALUES,
            [_value_row(evaluation_id, key, AGGREGATE, value) for key, value in values.items()],
        )


def _superseded_by(evaluation: NewEvaluation) -> ColumnElement[bool]:
    """The condition for evaluations that a new one supersedes.

    These are the previous one of the same samples and, for an evaluation of the whole run, those
    of slices that were computed with other labels or another suite; slices are recomputed on
    request.
    """
    if evaluation.slice is not None:
        return EvaluationRow.slice == evaluation.slice
    return or_(
        EvaluationRow.slice.is_(None),
        EvaluationRow.suite_version != evaluation.suite_version,
        EvaluationRow.truth_version_id.is_distinct_from(evaluation.truth_version_id),
    )


def _insert(session: Session, evaluation: NewEvaluation, now: datetime, *, counts: bool) -> int:
    counted = evaluation.counted
    row = EvaluationRow(
        run_id=evaluation.run_id,
        truth_version_id=evaluation.truth_version_id,
        suite_version=evaluation.suite_version,
        engine_version=evaluation.engine_version,
        input_digest=evaluation.input_digest,
        slice=evaluation.slice,
        n_cases=evaluation.n_cases,
        n_labelled=counted.total,
        is_current=counts,
        computed_at=now,
        duration_s=evaluation.duration_s,
        lowest_recall=_lowest_recall(evaluation.per_class),
    )
    session.add(row)
    session.flush()  # Everything below refers to it.
    session.add(
        ConfusionMatrixRow(
            evaluation_id=row.id,
            label_set_id=label_set_id(session, counted.labels),
            n_classes=counted.n_classes,
            cells=encode_counted(counted),
            digest=counted.digest,
        )
    )
    packed = pack(evaluation.per_class, counted.n_classes)
    session.add(
        ClassValuesRow(
            evaluation_id=row.id,
            n_classes=packed.n_classes,
            keys=list(packed.keys),
            reasons=list(packed.reasons),
            data=packed.data,
        )
    )
    session.flush()  # Blobs first; the many small rows go in one statement.
    rows = [
        _value_row(row.id, key, AGGREGATE, value) for key, value in evaluation.aggregate.items()
    ]
    for key in INDEXED_CLASS_KEYS:
        rows += [
            _value_row(row.id, key, index, value)
            for index, value in enumerate(evaluation.per_class[key])
        ]
    session.execute(_NEW_VALUES, rows)
    return row.id


def _value_row(
    evaluation_id: int, key: str, class_index: int, value: MetricValue
) -> dict[str, object]:
    return {
        "evaluation_id": evaluation_id,
        "key": key,
        "class_index": class_index,
        "value": value.value,
        "reason": value.reason,
        "tends_to": value.limit,
        "ci_low": value.ci_low,
        "ci_high": value.ci_high,
        "ci_method": value.ci_method,
    }
