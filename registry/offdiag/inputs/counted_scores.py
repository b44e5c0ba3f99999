"""Scores that were counted in cells outside offdiag: of one class, or of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import Codes
from offdiag.inputs.scores import score_of_no_class
from offdiag.metrics.orientation import actual_totals
from offdiag.metrics.scores.score_cells import HIGHEST_CODE, LOWEST_CODE, CellSums, EventSums

CellColumns: TypeAlias = Mapping[str, Sequence[float]]
"""Lists by name, one entry per kind of samples, whose scores p are in one cell.

`code` is that of the cell, `low` and `high` the smallest and largest p, `score` the sum of p,
`square` and `rest_square` of p^2 and (1 - p)^2, `surprise` and `rest_surprise` of -ln p and -ln(1
- p) if these are finite. Which of them are losses depends on the actual class.
"""
MISSING, OUTSIDE = -50_000, 50_000
"""Codes of rows without a score, and of rows whose score is not a probability."""
MOST_CELLS = 80_000
"""More than the possible kinds of an event: 31,000 cells, each by its outcome."""
_LARGEST_SURPRISE = 104.0
"""-ln of the smallest positive number in single precision is 103.3."""
_SLACK = 1e-6
"""Sums in single precision and in another order may be off by this share of the samples."""


def cell_sums(
    given: CellColumns,
    sizes: NDArray[np.int64],
    actual: Codes,
    *,
    labels: LabelSet,
    positive_label: str | None,
) -> CellSums:
    """The checked score sums of kinds with `sizes` samples of `actual` class, all (n,).

    Raises `InvalidInput` for other than two classes, without a positive one, and for sums that are
    impossible for that many samples.
    """
    if len(labels) != 2:
        raise InvalidInput(
            f"one score for each example is counted, and there are {len(labels)} classes.",
            field="score",
            hint="Keep the predictions, or count one class against the rest.",
        )
    if positive_label is None:
        raise score_of_no_class(labels)
    return _sums(given, sizes, actual == labels.index[positive_label])


def _sums(
    given: CellColumns, sizes: NDArray[np.int64], is_positive: NDArray[np.bool_]
) -> CellSums:
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}
    _require_possible(numbers, sizes)
    return CellSums(
        code=numbers["code"].astype(np.int32),
        count=sizes,
        low=numbers["low"].astype(np.float32),
        high=numbers["high"].astype(np.float32),
        score=numbers["score"],
        squared=np.where(is_positive, numbers["rest_square"], numbers["square"]),
        surprise=np.where(is_positive, numbers["surprise"], numbers["rest_surprise"]),
    )


@dataclass(frozen=True)
class GivenEvent:
    """Samples counted by the cell of one probability: that of a class, or the largest of a sample.

    All lists have one entry per kind of samples: whether the event `happened`, how many samples
    there are (`sizes`), and the columns of `CellColumns`.
    """

    happened: Sequence[bool]
    sizes: Sequence[int]
    scores: CellColumns


@dataclass(frozen=True)
class GivenClassScores:
    """Scores of every class, each counted against the rest.

    `of_classes` is by class, in the order in which ties for the top label, counted by `top`, are
    decided.
    """

    of_classes: Mapping[str, GivenEvent]
    top: GivenEvent


def event_sums(
    given: GivenClassScores, matrix: NDArray[np.int64], labels: LabelSet
) -> tuple[EventSums, ...]:
    """The score sums of each class in label order, then of the top label.

    `matrix` (K, K) counts the samples by class, and all counts must agree with its actual classes.
    Raises `InvalidInput` for other classes and for counts of different samples.
    """
    if len(labels) < 3:
        raise InvalidInput(
            "scores of each class are counted for more than two classes.",
            field="class_scores",
            hint="Count the score of the positive class.",
        )
    if tuple(given.of_classes) != labels.names:
        raise InvalidInput(
            f"scores are of {', '.join(given.of_classes)}, and the classes are "
            f"{', '.join(labels.names)}.",
            field="class_scores",
            hint="Give a column for each class, and labels= in the order of the dataset.",
        )
    total = int(matrix.sum())
    events = []
    for (name, event), n_actual in zip(
        given.of_classes.items(), actual_totals(matrix).tolist(), strict=True
    ):
        read = _event(event, f"class_scores[{name!r}]")
        n_happened = int(read.sums.count[read.happened].sum())
        if (n_happened, int(read.sums.count.sum())) != (n_actual, total):
            raise _other_samples(f"class_scores[{name!r}]")
        events.append(read)
    top = _event(given.top, "class_scores.top")
    if int(top.sums.count.sum()) != total:
        raise _other_samples("class_scores.top")
    return (*events, top)


def _event(given: GivenEvent, field: str) -> EventSums:
    lengths = {len(given.happened), len(given.sizes), *map(len, given.scores.values())}
    if len(lengths) > 1:
        raise InvalidInput("the lists differ in length.", field=field, hint="Give one entry each.")
    sizes = np.asarray(given.sizes)
    if sizes.dtype.kind not in "iu" or not 0 < len(sizes) <= MOST_CELLS or sizes.min() < 1:
        raise InvalidInput(
            f"there are no samples, more than {MOST_CELLS:,} kinds, or counts that are not whole "
            "numbers from 1.",
            field=field,
            hint="Count with log_frame(..., keep_predictions=False).",
        )
    happened = np.asarray(given.happened, dtype=np.bool_)
    found = _sums(given.scores, sizes.astype(np.int64), happened)
    first, merged = found.grouped(found.code.astype(np.int64) * 2 + happened)
    return EventSums(happened[first], merged)


def _other_samples(field: str) -> InvalidInput:
    return InvalidInput(
        "these are not the samples of the matrix.",
        field=field,
        hint="Count a fixed copy; the source must not change while it is counted.",
    )


def _require_possible(
    numbers: Mapping[str, NDArray[np.float64]], sizes: NDArray[np.int64]
) -> None:
    low, high, mean = numbers["low"], numbers["high"], numbers["score"] / sizes
    # Comparisons with NaN are false.
    fits = (numbers["code"] >= LOWEST_CODE) & (numbers["code"] <= HIGHEST_CODE)
    fits &= (low >= 0) & (low <= high) & (high <= 1)
    fits &= (mean >= low - _SLACK) & (mean <= high + _SLACK)
    for name in ("square", "rest_square"):
        fits &= (numbers[name] >= 0) & (numbers[name] / sizes <= 1 + _SLACK)
    for name in ("surprise", "rest_surprise"):
        fits &= (numbers[name] >= 0) & (numbers[name] / sizes <= _LARGEST_SURPRISE)
    if not fits.all():
        raise InvalidInput(
            f"the sums of scores of kind {int(np.argmin(fits))} are not those of its samples.",
            field="scores",
            hint="Count probabilities from 0 to 1 with log_frame(..., keep_predictions=False).",
        )
