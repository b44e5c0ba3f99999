"""Statements on the curves of scores, which are kept with an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import exists, insert, select
from sqlalchemy.orm import Session

from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.store.curve_codec import (
    decode_bins,
    decode_histogram,
    decode_points,
    encode_bins,
    encode_histogram,
    encode_points,
)
from offdiag.store.models import ScoreCurveRow

_COLUMNS = (
    *("class_index", "n_positive", "n_negative", "n_thresholds"),
    *("points", "bins", "histogram"),
)


def write_curves(session: Session, evaluation_id: int, curves: Sequence[ScoreCurve]) -> None:
    """Keep the curves of an evaluation that has none yet."""
    is_there = session.scalar(select(exists().where(ScoreCurveRow.evaluation_id == evaluation_id)))
    if is_there or not curves:
        return
    session.execute(
        insert(ScoreCurveRow),
        [{"evaluation_id": evaluation_id, **_columns(curve)} for curve in curves],
    )


def has_others(session: Session, evaluation_id: int, curves: Sequence[ScoreCurve]) -> bool:
    """Whether an evaluation has curves, and not exactly these, bit for bit."""
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
    """The curves of an evaluation by class code, all of them or those among `codes`."""
    statement = (
        select(ScoreCurveRow)
        .where(ScoreCurveRow.evaluation_id == evaluation_id)
        .order_by(ScoreCurveRow.class_index)
    )
    if codes is not None:
        statement = statement.where(ScoreCurveRow.class_index.in_(codes))
    return {row.class_index: _curve(row) for row in session.scalars(statement)}


def _columns(curve: ScoreCurve) -> dict[str, int | bytes | None]:
    """What is stored of a curve, by the names in `_COLUMNS`."""
    values = (
        *(curve.code, curve.points.n_positive, curve.points.n_negative),
        *(curve.points.n_thresholds, encode_points(curve.points)),
        None if curve.bins is None else encode_bins(curve.bins),
        encode_histogram(curve.histogram),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _curve(row: ScoreCurveRow) -> ScoreCurve:
    return ScoreCurve(
        row.class_index,
        decode_points(
            row.points,
            n_positive=row.n_positive,
            n_negative=row.n_negative,
            n_thresholds=row.n_thresholds,
        ),
        None if row.bins is None else decode_bins(row.bins),
        decode_histogram(row.histogram),
    )
