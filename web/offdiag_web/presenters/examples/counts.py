"""How many examples a question has, as far as the matrix of the run can tell."""

from __future__ import annotations

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.examples.question import ExampleQuestion, Kind


def expected_count(
    matrix: ConfusionMatrix, question: ExampleQuestion, *, n_unlabelled: int
) -> int | None:
    """Cases of the matrix that are meant; None where more must be known of them.

    Predictions without a label are in no matrix: only their total is known.
    """
    if question.sample is not None:
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


def _all_of(matrix: ConfusionMatrix, actual: int | None, predicted: int | None) -> int:
    if actual is not None and predicted is not None:
        return int(matrix.counts[actual, predicted])
    if actual is not None:
        return int(matrix.actual[actual])
    return matrix.total if predicted is None else int(matrix.predicted[predicted])


def _right_of(matrix: ConfusionMatrix, actual: int | None, predicted: int | None) -> int:
    codes = {code for code in (actual, predicted) if code is not None}
    if not codes:
        return int(matrix.counts.trace())
    if len(codes) > 1:
        return 0
    (code,) = codes
    return int(matrix.counts[code, code])
