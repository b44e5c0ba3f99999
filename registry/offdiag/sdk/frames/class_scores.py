"""Scores of every class, each class against the rest, counted by the library of the frame.

Each class takes one pass over the rows, and so does the largest probability. A pass groups by an
event and a cell, so the size of the result does not grow with the number of rows or of
combinations of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_cells
from offdiag.inputs.counted_scores import GivenClassScores, GivenEvent
from offdiag.inputs.score_columns import places_of_classes
from offdiag.metrics.scores.forecasts import sum_tolerance
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame
from offdiag.sdk.frames.kinds import SIZE, grouped
from offdiag.sdk.frames.score_cells import AGGREGATES, CODE, as_stored, cell_columns, with_cells

_HAPPENED, _TOP, _OFF = "offdiag: happened", "offdiag: top", "offdiag: off"
_FARTHEST = "offdiag: farthest"


def count_class_scores(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    classes: Mapping[str, Sequence[Any]],
    labels: Sequence[object] | LabelSet | None,
) -> GivenClassScores:
    """The scores of each class in label order, and the largest score of each row.

    `classes` are the values in the actual and the predicted column, by column name. Raises
    `InvalidInput` for columns that do not match the classes, and for scores that are not
    probabilities.
    """
    actual = columns.actual
    assert actual is not None  # noqa: S101  # Who calls this has counted it.
    known = _label_set(classes, columns, labels)
    places = places_of_classes(columns.score_classes or columns.scores, known, field="score")
    score_of = {
        label: columns.scores[place] for label, place in zip(known.names, places, strict=True)
    }
    is_actual = _is_actual(actual, classes[actual], known)
    events, left = {}, MAX_KINDS
    for label, score in score_of.items():
        events[label] = _event(frame.with_columns(is_actual[label].alias(_HAPPENED)), score)
        left -= len(events[label].sizes)
        if left < 0:
            raise too_many_cells()
    return GivenClassScores(events, _top_event(frame, score_of, is_actual))


def _label_set(
    classes: Mapping[str, Sequence[Any]],
    columns: FrameColumns,
    labels: Sequence[object] | LabelSet | None,
) -> LabelSet:
    if labels is not None:
        return LabelSet.declared(labels)
    named = (name for name in (columns.actual, columns.predicted) if name is not None)
    return LabelSet.inferred_from({label_text(each) for name in named for each in classes[name]})


def _is_actual(column: str, values: Sequence[Any], labels: LabelSet) -> dict[str, nw.Expr]:
    """Whether a row is of a class, by class."""
    of_class: dict[str, list[Any]] = {label: [] for label in labels.names}
    for value in dict.fromkeys(values):
        of_class.setdefault(label_text(value), []).append(value)
    actual = nw.col(column)
    # No row has a gap there, so that a class without rows never is the actual one.
    return {
        label: actual.is_in(found) if found else actual.is_null()
        for label, found in of_class.items()
    }


def _event(
    frame: EagerFrame | LazyFrame, score: str, *further: nw.Expr, limit: float | None = None
) -> GivenEvent:
    counted = grouped(with_cells(frame, score), (_HAPPENED, CODE), (*AGGREGATES, *further))
    sizes = counted[SIZE].to_pylist()
    scores = cell_columns(counted, sizes, score)
    if limit is not None and max(counted[_FARTHEST].to_pylist()) > limit:
        raise InvalidInput(
            f"the scores of a row add up to a number that is "
            f"{max(counted[_FARTHEST].to_pylist()):.3g} away from 1.",
            field="score",
            hint="Scores are counted as probabilities; rescale them, or keep the predictions.",
        )
    return GivenEvent([bool(each) for each in counted[_HAPPENED].to_pylist()], sizes, scores)


def _top_event(
    frame: EagerFrame | LazyFrame, score_of: Mapping[str, str], is_actual: Mapping[str, nw.Expr]
) -> GivenEvent:
    """The largest probability. It is right if the first class that has it is the actual class.

    Probabilities must add up to 1 within single precision, as for stored predictions.
    """
    n_classes = len(score_of)
    p = [as_stored(name) for name in score_of.values()]
    with_top = frame.with_columns(
        nw.max_horizontal(*p).alias(_TOP), (nw.sum_horizontal(*p) - 1).abs().alias(_OFF)
    )
    first = nw.min_horizontal(
        *(
            nw.when(each >= nw.col(_TOP)).then(nw.lit(code)).otherwise(nw.lit(n_classes))
            for code, each in enumerate(p)
        )
    )
    actual = nw.sum_horizontal(
        *(
            nw.when(is_actual[label]).then(nw.lit(code)).otherwise(nw.lit(0))
            for code, label in enumerate(score_of)
        )
    )
    return _event(
        with_top.with_columns((first == actual).alias(_HAPPENED)),
        _TOP,
        nw.col(_OFF).max().alias(_FARTHEST),
        limit=sum_tolerance(n_classes),
    )
