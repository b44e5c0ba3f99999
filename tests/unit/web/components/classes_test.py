import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.components.classes import (
    WINDOW_CLASSES,
    busiest_class,
    most_frequent,
    window_around,
)
from support.dashboard import LESION_COUNTS, LESIONS


def test_the_list_has_at_most_as_many_kinds_of_error_as_there_are() -> None:
    assert len(most_frequent(_lesions(), at_most=3)) == 3
    assert len(most_frequent(_lesions(), at_most=42)) == 26


def test_a_perfect_run_has_no_confusions() -> None:
    perfect = ConfusionMatrix(np.diag([3, 4]), LabelSet(("a", "b")))

    assert most_frequent(perfect, at_most=5) == ()


def _lesions() -> ConfusionMatrix:
    return ConfusionMatrix(np.array(LESION_COUNTS), LabelSet(LESIONS))


def test_the_window_holds_the_classes_a_class_is_most_often_confused_with() -> None:
    counts = np.eye(40, dtype=np.int64) * 10
    counts[7, 30] = 5
    counts[12, 7] = 6
    counts[7, 3] = 2

    window = window_around(_matrix(counts), 7)

    assert window[:4] == [7, 12, 30, 3]
    assert len(window) == len(set(window)) == WINDOW_CLASSES


def test_where_few_classes_are_involved_the_largest_ones_fill_the_window() -> None:
    counts = np.diag(np.arange(1, 41))

    assert window_around(_matrix(counts), 0)[1:4] == [39, 38, 37]


def test_the_first_window_is_around_the_most_frequent_error() -> None:
    counts = np.eye(40, dtype=np.int64) * 100
    counts[21, 4] = 9

    assert busiest_class(_matrix(counts)) == 21


def test_without_errors_it_is_around_the_largest_class() -> None:
    assert busiest_class(_matrix(np.diag(np.arange(1, 41)))) == 39


def _matrix(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> ConfusionMatrix:
    return ConfusionMatrix(counts.astype(np.int64), LabelSet.numbered(len(counts)))
