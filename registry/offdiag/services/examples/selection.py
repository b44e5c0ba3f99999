"""Selecting and sorting predictions: questions, sort keys, and matches in arrays.

Predictions are selected by class, cell or kind, and sets of labels by a label and by what is wrong
in them; pages follow each other by a place in the sorted list.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, is_labelled
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import holds_label
from offdiag.metrics.scores.forecasts import CLASS_AXIS


class Kind(StrEnum):
    """Predictions by whether they agree with the label of their sample."""

    WRONG = "wrong"
    RIGHT = "right"
    UNLABELLED = "unlabelled"
    ALL = "all"


class SortKey(StrEnum):
    """What predictions are sorted by.

    `CONFIDENCE` is the score of the predicted class, `MARGIN` how far it lies above the largest
    score of another class, `ACTUAL` the score of the labelled class of the sample, `AGREEMENT` how
    many models of the dataset predict that class.
    """

    LOGGED = "logged"
    CONFIDENCE = "confidence"
    MARGIN = "margin"
    ACTUAL = "actual"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class ExampleOrder:
    """By a score, or as logged; ties in the order in which they were logged."""

    key: SortKey
    descending: bool = False


AS_LOGGED = ExampleOrder(SortKey.LOGGED)
MOST_CONFIDENT_FIRST = ExampleOrder(SortKey.CONFIDENCE, descending=True)


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """Classes or groups by name; a cell of the matrix if both are given, whatever the kind.

    If only one group is named, predictions inside it are right. For sets of labels, `actual` and
    `predicted` name a label in the true and in the predicted set; a kind then says whether the
    other set has it too. `sample` is text within the identifier of the sample, or if a number, the
    whole identifier; `part` is a slice such as `country=DE`, None for all samples. `order` None is
    by confidence if there are scores: errors of which the model was sure come first.
    """

    actual: str | None = None
    predicted: str | None = None
    kind: Kind = Kind.WRONG
    sample: str | None = None
    order: ExampleOrder | None = None
    part: str | None = None

    @property
    def is_cell(self) -> bool:
        """Whether the question is about one cell of the matrix."""
        return self.actual is not None and self.predicted is not None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a sorted list: the sort key of a prediction, and its number in the run."""

    key: float
    index: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """Stands for the page after a place, or before it."""

    place: Place
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class ExampleSelection:
    """A question in codes: None means any class, `n_classes` means no label.

    `group` has the codes of the only group that is named; for right and wrong, its members count
    as the same class.
    """

    actual: tuple[int, ...] | None
    predicted: tuple[int, ...] | None
    kind: Kind
    group: tuple[int, ...] = ()


def wanted(
    question: ExampleQuestion, labels: LabelSet, hierarchy: Hierarchy | None = None
) -> ExampleSelection:
    """The question in codes.

    Raises `InvalidInput` for an unknown class or group, and for a cell between a group and
    something inside it, which no matrix has.
    """
    actual = _codes(question.actual, labels, hierarchy, "actual")
    predicted = _codes(question.predicted, labels, hierarchy, "predicted")
    names_differ = question.actual != question.predicted
    if question.is_cell and names_differ and set(actual or ()) & set(predicted or ()):
        raise InvalidInput(
            f"one of {question.actual!r} and {question.predicted!r} is part of the other.",
            field="predicted",
            hint="Name classes or groups that do not contain each other.",
        )
    if question.kind is Kind.UNLABELLED:
        if actual is not None:
            raise InvalidInput(
                f"a sample without a label is not {question.actual!r}.",
                field="actual",
                hint="Ask for one or the other.",
            )
        return ExampleSelection((len(labels),), predicted, Kind.ALL)
    kind = Kind.ALL if question.is_cell else question.kind
    named = actual or predicted or ()
    return ExampleSelection(actual, predicted, kind, group=named if len(named) > 1 else ())


def _codes(
    name: str | None, labels: LabelSet, hierarchy: Hierarchy | None, field: str
) -> tuple[int, ...] | None:
    if name is None:
        return None
    if hierarchy is not None and name in hierarchy.by_name:
        return tuple(labels.index[each] for each in hierarchy.by_name[name].classes)
    return (labels.code_of(name, field_name=field),)


@dataclass(frozen=True, eq=False)
class Chosen:
    """m predictions: their numbers in the run, sort keys, codes, and places in the truth.

    All arrays have shape (m,), `scores` (m, columns) if there are any. If samples have sets of
    labels, `actual` and `predicted` are packed sets (m, bytes).
    """

    index: NDArray[np.int64]
    key: NDArray[np.float64]
    actual: NDArray[np.int64]
    predicted: NDArray[np.int64]
    position: NDArray[np.int64]
    scores: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.index)

    def take(self, places: NDArray[np.int64]) -> Chosen:
        """The predictions at these places, in this order."""
        return Chosen(
            self.index[places],
            self.key[places],
            self.actual[places],
            self.predicted[places],
            self.position[places],
            None if self.scores is None else self.scores[places],
        )

    def followed_by(self, other: Chosen) -> Chosen:
        """These predictions followed by the others."""
        scores = [part.scores for part in (self, other) if part.scores is not None]
        return Chosen(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.key, other.key]),
            np.concatenate([self.actual, other.actual]),
            np.concatenate([self.predicted, other.predicted]),
            np.concatenate([self.position, other.position]),
            np.concatenate(scores) if scores else None,
        )


def none_chosen(*, set_bytes: int) -> Chosen:
    """No predictions, with this many bytes per row for sets, or 0 for single classes."""
    none = np.zeros(0, dtype=np.int64)
    answers = np.zeros((0, set_bytes), dtype=np.int64) if set_bytes else none
    return Chosen(none, none.astype(np.float64), answers, answers, none)


def matches(
    what: ExampleSelection, actual: Codes, predicted: Codes, n_classes: int
) -> NDArray[np.bool_]:
    """Which of n predictions match, (n,). Without a label they are neither right nor wrong."""
    found = np.ones(len(predicted), dtype=np.bool_)
    if what.actual is not None:
        found &= _among(actual, what.actual)
    if what.predicted is not None:
        found &= _among(predicted, what.predicted)
    if what.kind in {Kind.WRONG, Kind.RIGHT}:
        right = actual == predicted
        if what.group:
            right |= _among(actual, what.group) & _among(predicted, what.group)
        found &= right if what.kind is Kind.RIGHT else ~right & (actual < n_classes)
    return found


def _among(codes: Codes, wanted: tuple[int, ...]) -> NDArray[np.bool_]:
    if len(wanted) == 1:
        return np.asarray(codes == wanted[0])
    return np.isin(codes, wanted)


BELOW_ALL_SCORES = float(np.finfo(np.float32).min)
"""The score for samples without a label: finite, so that places can be sent."""


def sort_keys(
    key: SortKey,
    scores: NDArray[np.float32],
    predicted: NDArray[Any],
    actual: NDArray[Any],
    positive: int | None,
    *,
    sum_of_both: float,
) -> NDArray[np.float64]:
    """The sort keys of m predictions, (m,); for sets, the score of the label `positive`."""
    if are_sets(predicted) and positive is not None:
        return scores[:, positive].astype(np.float64)
    if key is SortKey.CONFIDENCE:
        return confidences(scores, predicted, positive, sum_of_both=sum_of_both)
    if key is SortKey.MARGIN:
        return margins(scores, predicted, positive, sum_of_both=sum_of_both)
    if key is SortKey.ACTUAL:
        n_classes = max(scores.shape[CLASS_AXIS], 2)
        labelled = actual < n_classes
        codes = np.where(labelled, actual, 0)
        own = confidences(scores, codes, positive, sum_of_both=sum_of_both)
        return np.where(labelled, own, BELOW_ALL_SCORES)
    return np.zeros(len(predicted))


SUM_OF_PROBABILITIES = 1.0
SUM_OF_OTHER_SCORES = 0.0
"""What the scores of two classes add up to: log odds and distances only change their sign."""


def confidences(
    scores: NDArray[np.float32],
    predicted: NDArray[Any],
    positive: int | None,
    *,
    sum_of_both: float,
) -> NDArray[np.float64]:
    """The scores of the predicted classes, (m,).

    With one column, that of the other class is what is left of `sum_of_both`.
    """
    if _has_one_column(scores, positive):
        own = scores[:, 0].astype(np.float64)
        return np.where(predicted == positive, own, sum_of_both - own)
    places = predicted.astype(np.int64)[:, np.newaxis]
    return np.take_along_axis(scores, places, axis=CLASS_AXIS)[:, 0].astype(np.float64)


def margins(
    scores: NDArray[np.float32],
    predicted: NDArray[Any],
    positive: int | None,
    *,
    sum_of_both: float,
) -> NDArray[np.float64]:
    """Confidence minus the largest score of another class, (m,); negative if that is larger."""
    own = confidences(scores, predicted, positive, sum_of_both=sum_of_both)
    if _has_one_column(scores, positive):
        return 2 * own - sum_of_both
    others = scores.astype(np.float64)
    np.put_along_axis(others, predicted.astype(np.int64)[:, np.newaxis], -np.inf, CLASS_AXIS)
    best = others.max(axis=CLASS_AXIS)
    return np.where(np.isfinite(best), own - best, own)


def nearest(chosen: Chosen, *, descending: bool, cursor: Cursor | None, size: int) -> Chosen:
    """At most `size` predictions in order: the first ones, or those next to a place.

    Ties are in the order of the run, whichever way keys are sorted.
    """
    key = -chosen.key if descending else chosen.key
    if cursor is not None:
        at = -cursor.place.key if descending else cursor.place.key
        after = (key > at) | ((key == at) & (chosen.index > cursor.place.index))
        if cursor.backwards:
            after = ~after & ~((key == at) & (chosen.index == cursor.place.index))
        keep = np.flatnonzero(after).astype(np.int64)
    else:
        keep = np.arange(len(chosen), dtype=np.int64)
    is_end_wanted = cursor is not None and cursor.backwards
    if len(keep) > size:
        # With few of many, whatever lies beyond the last key on the page need not be sorted.
        last = len(keep) - size if is_end_wanted else size - 1
        bound = np.partition(key[keep], last)[last]
        keep = keep[key[keep] >= bound if is_end_wanted else key[keep] <= bound]
    order = keep[np.lexsort((chosen.index[keep], key[keep]))]
    return chosen.take(order[-size:] if is_end_wanted else order[:size])


def count_before(chosen: Chosen, *, descending: bool, cursor: Cursor) -> int:
    """The number of predictions before the page after a cursor or, backwards, before its place."""
    key = -chosen.key if descending else chosen.key
    at = -cursor.place.key if descending else cursor.place.key
    before = (key < at) | ((key == at) & (chosen.index < cursor.place.index))
    is_it = (key == at) & (chosen.index == cursor.place.index)
    return int(np.count_nonzero(before if cursor.backwards else before | is_it))


def following(kept: Chosen, found: Chosen, *, cursor: Cursor | None, size: int) -> Chosen:
    """`kept` with as many of `found`, which comes later in the run, as fit on the page.

    Backwards, the last ones before the place are kept, otherwise the first ones after it.
    """
    if cursor is None:
        return _extended(kept, found, 0, size - len(kept))
    if cursor.backwards:
        stop = int(np.searchsorted(found.index, cursor.place.index, side="left"))
        joined = _extended(kept, found, max(stop - size, 0), min(stop, size))
        return joined.take(np.arange(max(len(joined) - size, 0), len(joined), dtype=np.int64))
    start = int(np.searchsorted(found.index, cursor.place.index, side="right"))
    return _extended(kept, found, start, size - len(kept))


def _extended(kept: Chosen, found: Chosen, start: int, n: int) -> Chosen:
    places = np.arange(start, min(start + n, len(found)), dtype=np.int64)
    return kept.followed_by(found.take(places)) if len(places) else kept


def _has_one_column(scores: NDArray[np.float32], positive: int | None) -> bool:
    return int(scores.shape[CLASS_AXIS]) == 1 and positive is not None


def matching_sets(
    what: ExampleSelection, actual: Codes, predicted: Codes, n_labels: int
) -> NDArray[np.bool_]:
    """Which of n samples match, (n,), given packed sets.

    If a label is named, a sample is right if the other set has the label too; otherwise whole sets
    are compared. A sample whose true set is unknown is neither right nor wrong.
    """
    known = is_labelled(actual, n_labels)
    of_unknown = what.actual == (n_labels,)
    found = ~known if of_unknown else np.ones(len(predicted), dtype=np.bool_)
    if what.actual is not None and not of_unknown:
        found &= _hold(actual, what.actual)
    if what.predicted is not None:
        found &= _hold(predicted, what.predicted)
    if what.kind is Kind.ALL:
        return found
    if what.actual is not None:
        is_right = _hold(predicted, what.actual)
    elif what.predicted is not None:
        is_right = _hold(actual, what.predicted)
    else:
        is_right = ~differ(actual, predicted, n_labels)
    return found & known & (is_right if what.kind is Kind.RIGHT else ~is_right)


def _hold(sets: Codes, labels: tuple[int, ...]) -> NDArray[np.bool_]:
    bits = sets.astype(np.uint8, copy=False)
    return np.asarray(np.logical_or.reduce([holds_label(bits, code) for code in labels]))
