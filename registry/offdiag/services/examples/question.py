"""Which predictions somebody wants to see, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput


class Kind(StrEnum):
    """Predictions by how they compare with the label of their sample."""

    WRONG = "wrong"
    RIGHT = "right"
    UNLABELLED = "unlabelled"
    ALL = "all"


class SortKey(StrEnum):
    """What predictions are sorted by.

    `CONFIDENCE` is the score of the predicted class, `MARGIN` how far it lies above the largest
    score of another class.
    """

    LOGGED = "logged"
    CONFIDENCE = "confidence"
    MARGIN = "margin"


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
    `sample` is a text inside the identifier of the sample, a number its whole identifier.
    `order` None is by confidence where there are scores: errors the model was sure of first.
    """

    actual: str | None = None
    predicted: str | None = None
    kind: Kind = Kind.WRONG
    sample: str | None = None
    order: ExampleOrder | None = None

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
class Wanted:
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
) -> Wanted:
    """What is asked for.

    Raises `InvalidInput` for a class or group that there is none of, and for a cell between a
    group and something inside it, which no matrix has.
    """
    actual = _codes(question.actual, labels, hierarchy, "actual")
    predicted = _codes(question.predicted, labels, hierarchy, "predicted")
    names_differ = question.actual != question.predicted
    if question.is_cell and names_differ and set(actual or ()) & set(predicted or ()):
        raise InvalidInput(
            f"one of {question.actual!r} and {question.predicted!r} lies inside the other.",
            field="predicted",
            hint="Name classes or groups that stand beside each other.",
        )
    if question.kind is Kind.UNLABELLED:
        if actual is not None:
            raise InvalidInput(
                f"a sample without a label is not {question.actual!r}.",
                field="actual",
                hint="Ask for one or the other.",
            )
        return Wanted((len(labels),), predicted, Kind.ALL)
    kind = Kind.ALL if question.is_cell else question.kind
    named = actual or predicted or ()
    return Wanted(actual, predicted, kind, group=named if len(named) > 1 else ())


def _codes(
    name: str | None, labels: LabelSet, hierarchy: Hierarchy | None, field: str
) -> tuple[int, ...] | None:
    if name is None:
        return None
    if hierarchy is not None and name in hierarchy.by_name:
        return tuple(labels.index[each] for each in hierarchy.by_name[name].classes)
    return (labels.code_of(name, field_name=field),)
