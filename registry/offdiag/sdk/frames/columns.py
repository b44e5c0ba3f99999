"""Frames of any library behind one interface, and the roles of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias

import narwhals as nw

from offdiag.domain.labels import LabelSet, in_their_order, label_text
from offdiag.errors import InvalidInput
from offdiag.inputs.slice_ranges import Bins

ScoreColumns = str | Sequence[str] | Mapping[Any, str]
"""One column (scores of the positive class), or one for each class, by name or by class."""


@dataclass(frozen=True, slots=True)
class FrameColumns:
    """Names of the columns that are read.

    `actual` is None if the dataset has the ground truth. Without `predicted` the scores predict.
    `score_classes` are the classes of the columns `scores`, None if the column names say it. With
    several runs, `runs` has the predicted column of each, and `other_actual` the actual classes of
    the other joined frames. `bins` and `periods` say how slice columns are counted.
    """

    predicted: str | None
    actual: str | None
    scores: tuple[str, ...]
    sample_id: str | None
    slices: tuple[str, ...]
    score_classes: tuple[str, ...] | None = None
    runs: Mapping[str, str] = field(default_factory=dict)
    other_actual: tuple[str, ...] = ()
    weight: str | None = None
    bins: Mapping[str, Bins] | None = None
    periods: Mapping[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read, without repetition."""
        given = (
            *(self.actual, *self.other_actual, self.predicted, *self.runs.values()),
            *(*self.scores, self.sample_id, *self.slices),
            self.weight,
        )
        return tuple(dict.fromkeys(name for name in given if name is not None))

    def require_in(self, known: Sequence[object]) -> None:
        """Raise `InvalidInput` for the first column that a frame does not have."""
        not_text = {str(column) for column in known if not isinstance(column, str)}
        for role, name in self._by_role():
            if isinstance(name, str) and name in known:
                continue
            if str(name) in not_text:
                raise InvalidInput(
                    f"the name of column {name} of the frame is not text.",
                    field=role,
                    hint=f"Set frame.columns = frame.columns.map(str), and give {str(name)!r}.",
                )
            near = get_close_matches(str(name), [str(column) for column in known], n=3)
            shown = ", ".join(repr(column) for column in near or list(known)[:20])
            raise InvalidInput(
                f"the frame has no column {name!r}.",
                field=role,
                hint=f"Did you mean {shown}?" if near else f"It has {shown or 'none'}.",
            )

    def place_of(self, field: str | None) -> str | None:
        """The argument and column from which an argument of `log_run` was filled."""
        given = {
            "y_true": f"actual={self.actual!r}",
            "y_pred": f"predicted={self.predicted!r}",
            "sample_ids": f"sample_id={self.sample_id!r}",
            "y_score": "score",
            "sample_weight": f"sample_weight={self.weight!r}",
        }
        return given.get(field or "", field)

    def place_of_column(self, name: str) -> str:
        """The argument that names a column, with the name of the column."""
        if name == self.actual or name in self.other_actual:
            return f"actual={self.actual!r}"
        for run, column in self.runs.items():
            if name == column:
                return f"predicted[{run!r}]"
        return f"predicted={name!r}" if name == self.predicted else f"slices[{name!r}]"

    def _by_role(self) -> Iterable[tuple[str, object]]:
        if self.actual is not None:
            yield "actual", self.actual
        if self.predicted is not None:
            yield "predicted", self.predicted
        yield from ((f"predicted[{run!r}]", name) for run, name in self.runs.items())
        yield from (("score", name) for name in self.scores)
        if self.sample_id is not None:
            yield "sample_id", self.sample_id
        if self.weight is not None:
            yield "sample_weight", self.weight
        yield from (("slices", name) for name in self.slices)


def frame_columns(
    *,
    actual: str | None,
    predicted: str | None,
    score: ScoreColumns | None,
    sample_id: str | None,
    slices: Sequence[str] | None,
    labels: Iterable[object] | None,
    sample_weight: str | None = None,
) -> FrameColumns:
    """The named columns of one run. Raises `InvalidInput`."""
    if predicted is None and score is None:
        raise InvalidInput(
            "neither predictions nor scores are named.",
            field="predicted",
            hint="Name the column with the predictions of the model, or score= to predict from.",
        )
    if predicted is not None and actual == predicted:
        raise InvalidInput(
            f"column {predicted!r} is named as actual and as predicted.",
            field="predicted",
            hint="Name the column with the predictions of the model.",
        )
    if isinstance(slices, str):
        raise InvalidInput(
            f"{slices!r} is one name.", field="slices", hint=f"Give a list: [{slices!r}]."
        )
    classes = _classes(score)
    if classes is not None and labels is not None:
        _require_all(classes, labels)
    return FrameColumns(
        *(predicted, actual, _score_columns(score), sample_id, tuple(slices or ()), classes),
        weight=sample_weight,
    )


def columns_of_runs(
    *,
    actual: str | None,
    predicted: Mapping[str, str],
    score: ScoreColumns | None,
    sample_id: str | None,
    slices: Sequence[str] | None,
) -> FrameColumns:
    """The named columns of several runs. Raises `InvalidInput`."""
    for run, name in predicted.items():
        if not all(isinstance(each, str) for each in (run, name)):
            raise InvalidInput(
                f"{run!r}: {name!r} is not a name of a run with its column.",
                field="predicted",
                hint="Give a mapping from the name of each run to its column.",
            )
        frame_columns(
            actual=actual,
            predicted=name,
            score=score,
            sample_id=sample_id,
            slices=slices,
            labels=None,
        )
    return FrameColumns(
        None,
        actual,
        _score_columns(score),
        sample_id,
        tuple(slices or ()),
        runs=dict(predicted),
    )


def labels_in(
    labels: Iterable[object] | None, score: ScoreColumns | None
) -> Sequence[object] | LabelSet | None:
    """The declared classes in order, or else the sorted classes named by a mapping of scores."""
    if labels is not None:
        return in_their_order(labels)
    classes = _classes(score)
    return None if classes is None else LabelSet.inferred_from(classes)


def _score_columns(score: ScoreColumns | None) -> tuple[str, ...]:
    if score is None:
        return ()
    if isinstance(score, str) or not isinstance(score, Iterable):
        return (score,)
    return tuple(score.values()) if isinstance(score, Mapping) else tuple(score)


def _classes(score: ScoreColumns | None) -> tuple[str, ...] | None:
    if not isinstance(score, Mapping):
        return None
    return tuple(label_text(label, field_name="score") for label in score)


def _require_all(classes: Sequence[str], labels: Iterable[object]) -> None:
    odd = sorted(set(classes) ^ {label_text(label) for label in labels})
    if odd:
        raise InvalidInput(
            f"{odd[0]!r} is in only one of labels and score.",
            field="score",
            hint="Name one column of scores for each class.",
        )


EagerFrame: TypeAlias = "nw.DataFrame[Any]"
LazyFrame: TypeAlias = "nw.LazyFrame[Any]"


def opened(frame: object, columns: FrameColumns) -> EagerFrame | LazyFrame:
    """The named columns of a frame, in memory or still on its engine.

    Raises `InvalidInput` for what is not a frame, and for a column that it does not have
    or has twice.
    """
    try:
        known: EagerFrame | LazyFrame = nw.from_native(frame)
    except TypeError:
        raise InvalidInput(
            f"{type(frame).__name__} is not a frame.",
            field="frame",
            hint="Give a pandas, polars, pyarrow, DuckDB, Dask, Ibis or PySpark frame; "
            "log_run takes arrays.",
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise InvalidInput(
            f"several columns have one name: {str(error).splitlines()[-1].removeprefix('- ')}.",
            field="frame",
            hint="Rename or leave out all but one of them.",
        ) from None
    columns.require_in(known.collect_schema().names())
    return known.select(*columns.names)
