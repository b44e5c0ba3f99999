"""Which predictions a reader wants to see, in which order, and picking them out of arrays.

Which ones match, how sure they are, which come next; sets of labels by a label they hold and
by what they got wrong.
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
    """Predictions by how they compare with the label of their sample."""

    WRONG = "wrong"
    RIGHT = "right"
    UNLABELLED = "unlabelled"
    ALL = "all"


class SortKey(StrEnum):
    """What predictions are sorted by.

    `CONFIDENCE` is the score of the predicted class, `MARGIN` how far it lies above the largest
    score of another class, `ACTUAL` the score of the class that the sample is labelled with,
    `AGREEMENT` how many models of the dataset predict that class.
    """

    LOGGED = "logged"
    CONFIDENCE = "confidence"
    MARGIN = "margin"
    ACTUAL = "actual"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class ExampleOrder:
    """In the order they were logged, or by a score; equal ones in the order they were logged."""

    key: SortKey
    descending: bool = False


AS_LOGGED = ExampleOrder(SortKey.LOGGED)
MOST_CONFIDENT_FIRST = ExampleOrder(SortKey.CONFIDENCE, descending=True)


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """Classes or groups by name; a cell of the matrix where both are given, whatever the kind.

    Where one group alone is named, answers inside it are the right ones. Of sets of labels,
    `actual` and `predicted` name a label that the true and the predicted set hold; a kind then
    says whether the other set holds it too.
    `sample` is a text inside the identifier of the sample, a number its whole identifier; `part`
    is a slice such as `country=DE`, None for all samples.
    `order` None is by confidence where there are scores: errors the model was sure of first.
    """

    actual: str | None = None
    predicted: str | None = None
    kind: Kind = Kind.WRONG
    sample: str | None = None
    order: ExampleOrder | None = None
    part: str | None = None

    @property
    def is_cell(self) -> bool:
        """Whether one cell of the matrix is meant."""
        return self.actual is not None and self.predicted is not None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a sorted list: the sort key of a prediction, then its number in the run."""

    key: float
    index: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """The page after a place, or the one before it."""

    place: Place
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class ExampleSelection:
    """A question in codes: None is any class, `n_classes` stands for no label.

    `group` holds the codes of the one group that is named, whose members are as good as each
    other when it is asked what is wrong or right.
    """

    actual: tuple[int, ...] | None
    predicted: tuple[int, ...] | None
    kind: Kind
    group: tuple[int, ...] = ()


def wanted(
    question: ExampleQuestion, labels: LabelSet, hierarchy: Hierarchy | None = None
) -> ExampleSelection:
    """What is asked for.

    Raises `InvalidInput` for a class or group that there is none of, and for a cell between a
    group and something inside it, which no matrix has.
    """
    actual = _codes(question.actual, labels, hierarchy, "actual")
    predicted = _codes(question.predicted, labels, hierarchy, "predicted")
    names_differ = question.actual != question.predicted
    if question.is_cell and names_differ and set(actual or ()) & set(predicted or ()):
        raise InvalidInput(
            f"one of {question.actual!r} and {question.predicted!r} is part of the other.",
            field="predicted",
            hint="Name classes or groups of which neither contains the other.",
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
    """m predictions: their number in the run, their sort key, codes, and places in the truth.

    All arrays have shape (m,), `scores` (m, columns) where there are any. Where samples have sets
    of labels, `actual` and `predicted` are packed sets (m, bytes).
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
        """These predictions, then those."""
        scores = [part.scores for part in (self, other) if part.scores is not None]
        return Chosen(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.key, other.key]),
            np.concatenate([self.actual, other.actual]),
            np.concatenate([self.predicted, other.predicted]),
            np.concatenate([self.position, other.position]),
            np.concatenate(scores) if scores else None,
        )


def none_chosen(n_columns: int = 0, *, set_bytes: int = 0) -> Chosen:
    """No predictions, with so many columns of scores, or rows of so many bytes for sets."""
    none = np.zeros(0, dtype=np.int64)
    answers = np.zeros((0, set_bytes), dtype=np.int64) if set_bytes else none
    scores = np.zeros((0, n_columns), dtype=np.float32) if n_columns else None
    return Chosen(none, none.astype(np.float64), answers, answers, none, scores)


def matches(
    what: ExampleSelection, actual: Codes, predicted: Codes, n_classes: int
) -> NDArray[np.bool_]:
    """Which of n predictions are meant, (n,). A sample without a label is neither."""
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
"""The score of the class of a sample without a label: finite, so that places can be sent."""


def sort_keys(
    key: SortKey,
    scores: NDArray[np.float32],
    predicted: NDArray[Any],
    actual: NDArray[Any],
    positive: int | None,
) -> NDArray[np.float64]:
    """How sure the answers of m samples are, (m,); of sets, the score of the label `positive`."""
    if are_sets(predicted) and positive is not None:
        return scores[:, positive].astype(np.float64)
    if key is SortKey.CONFIDENCE:
        return confidences(scores, predicted, positive)
    if key is SortKey.MARGIN:
        return margins(scores, predicted, positive)
    if key is SortKey.ACTUAL:
        n_classes = max(scores.shape[CLASS_AXIS], 2)
        labelled = actual < n_classes
        own = confidences(scores, np.where(labelled, actual, 0), positive)
        return np.where(labelled, own, BELOW_ALL_SCORES)
    return np.zeros(len(predicted))


def confidences(
    scores: NDArray[np.float32], predicted: NDArray[Any], positive: int | None
) -> NDArray[np.float64]:
    """Score of the predicted class, (m,); with one column 1 - p stands for the other class."""
    if _has_one_column(scores, positive):
        p = scores[:, 0].astype(np.float64)
        return np.where(predicted == positive, p, 1 - p)
    places = predicted.astype(np.int64)[:, np.newaxis]
    return np.take_along_axis(scores, places, axis=CLASS_AXIS)[:, 0].astype(np.float64)


def margins(
    scores: NDArray[np.float32], predicted: NDArray[Any], positive: int | None
) -> NDArray[np.float64]:
    """Confidence less the largest score of another class, (m,); below 0 where that is larger."""
    own = confidences(scores, predicted, positive)
    if _has_one_column(scores, positive):
        return 2 * own - 1
    others = scores.astype(np.float64)
    np.put_along_axis(others, predicted.astype(np.int64)[:, np.newaxis], -np.inf, CLASS_AXIS)
    best = others.max(axis=CLASS_AXIS)
    return np.where(np.isfinite(best), own - best, own)


def nearest(chosen: Chosen, *, descending: bool, cursor: Cursor | None, size: int) -> Chosen:
    """At most `size` predictions in order: the first ones, or those next to a place.

    Equal keys stand in the order of the run, whichever way keys are sorted.
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
        # Few of many: whatever lies beyond the last key that counts need not be sorted.
        last = len(keep) - size if is_end_wanted else size - 1
        bound = np.partition(key[keep], last)[last]
        keep = keep[key[keep] >= bound if is_end_wanted else key[keep] <= bound]
    order = keep[np.lexsort((chosen.index[keep], key[keep]))]
    return chosen.take(order[-size:] if is_end_wanted else order[:size])


def count_before(chosen: Chosen, *, descending: bool, cursor: Cursor) -> int:
    """How many predictions come before the page that a cursor begins or, backwards, ends."""
    key = -chosen.key if descending else chosen.key
    at = -cursor.place.key if descending else cursor.place.key
    before = (key < at) | ((key == at) & (chosen.index < cursor.place.index))
    is_it = (key == at) & (chosen.index == cursor.place.index)
    return int(np.count_nonzero(before if cursor.backwards else before | is_it))


def following(kept: Chosen, found: Chosen, *, cursor: Cursor | None, size: int) -> Chosen:
    """`kept` with as many more of `found`, which follow it in the run, as the page takes.

    Backwards the last ones before the place stay, otherwise the first ones after it.
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
    """Which of n samples are meant, (n,), given packed sets.

    Where a label is named the sample is right if the other set holds it too; otherwise whole sets
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
