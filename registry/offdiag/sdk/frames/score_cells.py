"""Scores counted in cells by the library of the frame, in the same pass as their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import MISSING, OUTSIDE
from offdiag.inputs.scores import ALMOST_ONE, ALMOST_ZERO
from offdiag.metrics.scores.score_cells import (
    CELLS_PER_LOGIT,
    HIGHEST_CODE,
    LINEAR_STEPS,
    LOWEST_CODE,
)
from offdiag.sdk.frames.columns import EagerFrame, LazyFrame

CODE = "offdiag: code"
_P, _INNER = "offdiag: p", "offdiag: inner p"
_LOGIT = "offdiag: logit"
_SUMMED = ("score", "square", "rest_square", "surprise", "rest_surprise")


def with_cells(frame: EagerFrame | LazyFrame, score: str) -> EagerFrame | LazyFrame:
    """The frame with the cell of each score and the values that are summed in it.

    Raises `InvalidInput` for a column that is not numeric.
    """
    if not frame.collect_schema()[score].is_numeric():
        raise InvalidInput(
            f"values of type {frame.collect_schema()[score]} are not scores.",
            field=f"score={score!r}",
            hint="Scores are numbers from 0 to 1; give lists as one column for each class.",
        )
    p, inner = nw.col(_P), nw.col(_INNER)
    is_known = ~(p.is_null() | p.is_nan())
    is_inside = (p > 0) & (p < 1)
    with_p = frame.with_columns(as_stored(score).alias(_P))
    # Every engine may compute a logarithm that it then does not choose, and some raise for 0.
    with_inner = with_p.with_columns(
        nw.when(is_known & is_inside).then(p).otherwise(nw.lit(0.5)).alias(_INNER)
    )
    with_logit = with_inner.with_columns(
        _of(inner.log(), "surprise"), _of((1 - inner).log(), "rest_surprise")
    ).with_columns((nw.col(_named("surprise")) - nw.col(_named("rest_surprise"))).alias(_LOGIT))
    code = (
        (CELLS_PER_LOGIT * nw.col(_LOGIT)).floor()
        + (LINEAR_STEPS * inner).floor()
        + (inner > 0.5).cast(nw.Float64)
    )
    at_end = (
        nw.when(p <= 0)
        .then(nw.lit(float(LOWEST_CODE)))
        .otherwise(nw.when(p >= 1).then(nw.lit(float(HIGHEST_CODE))).otherwise(code))
    )
    checked = (
        nw.when(is_known & (p >= 0) & (p <= 1))
        .then(at_end)
        .otherwise(
            nw.when(is_known).then(nw.lit(float(OUTSIDE))).otherwise(nw.lit(float(MISSING)))
        )
    )
    return with_logit.with_columns(
        checked.cast(nw.Int32).alias(CODE),
        p.alias(_named("score")),
        (p * p).alias(_named("square")),
        ((1 - p) * (1 - p)).alias(_named("rest_square")),
        nw.when(is_inside)
        .then(0 - nw.col(_named("surprise")))
        .otherwise(nw.lit(0.0))
        .alias(_named("surprise")),
        nw.when(is_inside)
        .then(0 - nw.col(_named("rest_surprise")))
        .otherwise(nw.lit(0.0))
        .alias(_named("rest_surprise")),
    )


def as_stored(score: str) -> nw.Expr:
    """A column of scores, rounded by `single_precision` like the scores of stored predictions."""
    given = nw.col(score)
    rounded = given.cast(nw.Float32).cast(nw.Float64)
    return (
        nw.when((rounded == 0) & (given > 0))
        .then(nw.lit(ALMOST_ZERO))
        .otherwise(
            nw.when((rounded == 1) & (given < 1)).then(nw.lit(ALMOST_ONE)).otherwise(rounded)
        )
    )


def _named(column: str) -> str:
    return f"offdiag: {column}"


def _of(values: nw.Expr, column: str) -> nw.Expr:
    return values.alias(_named(column))


AGGREGATES: tuple[nw.Expr, ...] = (
    nw.col(_P).min().alias(_named("low")),
    nw.col(_P).max().alias(_named("high")),
    *(nw.col(_named(name)).sum().alias(_named(f"sum of {name}")) for name in _SUMMED),
)
"""What is aggregated about the scores of one kind."""


def cell_columns(counted: pa.Table, sizes: Sequence[int], score: str) -> Mapping[str, list[Any]]:
    """The columns with the aggregated scores of each kind.

    Raises `InvalidInput` for rows without a score, and for scores that are not probabilities.
    """
    codes = counted[CODE].to_pylist()
    low, high = (counted[_named(name)].to_pylist() for name in ("low", "high"))
    for broken, what in ((MISSING, "no score"), (OUTSIDE, "a score outside of 0 to 1")):
        places = [place for place, code in enumerate(codes) if code == broken]
        if not places:
            continue
        n_rows = sum(sizes[place] for place in places)
        where = ""
        if broken == OUTSIDE:
            smallest, largest = (
                ends(column[place] for place in places)
                for ends, column in ((min, low), (max, high))
            )
            where = f", from {smallest:g} to {largest:g}"
        raise InvalidInput(
            f"{n_rows:,} of {sum(sizes):,} rows have {what}{where}.",
            field=f"score={score!r}",
            hint="Filter them out, or fill them in."
            if broken == MISSING
            else "Scores are counted as probabilities; rescale them, or keep the predictions.",
        )
    sums = {name: counted[_named(f"sum of {name}")].to_pylist() for name in _SUMMED}
    return {"code": codes, "low": low, "high": high, **sums}
