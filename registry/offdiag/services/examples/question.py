"""Which predictions somebody wants to see, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
    """Classes by name; a cell of the matrix where both are given, whatever the kind.

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
    """A question in codes: None is any class, `n_classes` stands for no label."""

    actual: int | None
    predicted: int | None
    kind: Kind


def wanted(question: ExampleQuestion, labels: LabelSet) -> Wanted:
    """What is asked for. Raises `InvalidInput` for a class that there is none of."""
    actual = _code(question.actual, labels, "actual")
    predicted = _code(question.predicted, labels, "predicted")
    if question.kind is Kind.UNLABELLED:
        if actual is not None:
            raise InvalidInput(
                f"a sample without a label is not {question.actual!r}.",
                field="actual",
                hint="Ask for one or the other.",
            )
        return Wanted(len(labels), predicted, Kind.ALL)
    kind = Kind.ALL if question.is_cell else question.kind
    return Wanted(actual, predicted, kind)


def _code(name: str | None, labels: LabelSet, field: str) -> int | None:
    return None if name is None else labels.code_of(name, field_name=field)
