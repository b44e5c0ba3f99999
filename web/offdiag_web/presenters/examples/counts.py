"""How many examples a question has, as far as the matrix of the run can tell."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.hierarchy import Hierarchy, collapse_groups
from offdiag.metrics.confusion import collapsed
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.services.examples.question import ExampleQuestion, Kind


@dataclass(frozen=True)
class CaseCounts:
    """The matrix of a run, in which questions about groups of classes find those as classes.

    Sets of labels have no groups: nobody counted how many hold one label of several.
    """

    matrix: Counted
    hierarchy: Hierarchy | None = None

    def of(self, question: ExampleQuestion) -> Counted:
        """The matrix with the groups collapsed that a question names."""
        if self.hierarchy is None or isinstance(self.matrix, CountedSets):
            return self.matrix
        named = [
            name
            for name in (question.actual, question.predicted)
            if name is not None and name in self.hierarchy.by_name
        ]
        if not named:
            return self.matrix
        return collapsed(self.matrix, collapse_groups(self.matrix.labels, self.hierarchy, named))


def expected_count(matrix: Counted, question: ExampleQuestion, *, n_unlabelled: int) -> int | None:
    """Cases of the matrix that are meant; None where more must be known of them.

    Predictions without a label are in no matrix: only their total is known.
    """
    if question.sample is not None or not is_counted(matrix, question):
        return None
    names = matrix.labels.index
    actual = None if question.actual is None else names[question.actual]
    predicted = None if question.predicted is None else names[question.predicted]
    if question.kind is Kind.UNLABELLED:
        return n_unlabelled if question.predicted is None and actual is None else None
    if question.kind is Kind.ALL and actual is None and n_unlabelled and predicted is not None:
        return None
    counted = _all_of(matrix, actual, predicted)
    right = _right_of(matrix, actual, predicted)
    if question.is_cell:
        return counted
    if question.kind is Kind.ALL:
        return counted + (n_unlabelled if actual is None else 0)
    return right if question.kind is Kind.RIGHT else counted - right


def is_counted(counted: Counted, question: ExampleQuestion) -> bool:
    """Whether counts tell what is asked: of sets, about all of them or those with one label."""
    if not isinstance(counted, CountedSets):
        return True
    named = {name for name in (question.actual, question.predicted) if name is not None}
    return len(named) <= 1 and named <= counted.labels.index.keys()


def _all_of(matrix: Counted, actual: int | None, predicted: int | None) -> int:
    if actual is not None and predicted is not None:
        is_same = actual == predicted
        if isinstance(matrix, CountedSets) or is_same:
            return int(matrix.correct[actual])
        return int(matrix.counts[actual, predicted])
    if actual is not None:
        return int(matrix.actual[actual])
    return matrix.total if predicted is None else int(matrix.predicted[predicted])


def _right_of(matrix: Counted, actual: int | None, predicted: int | None) -> int:
    codes = {code for code in (actual, predicted) if code is not None}
    if not codes:
        return matrix.n_right
    if len(codes) > 1:
        return 0
    (code,) = codes
    return int(matrix.correct[code])
