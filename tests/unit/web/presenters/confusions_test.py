import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.components.confusions import most_frequent
from support.dashboard import LESION_COUNTS, LESIONS


def test_the_most_frequent_errors_come_first_with_their_reverse() -> None:
    errors = most_frequent(_lesions(), at_most=3).errors

    assert [(e.actual.name, e.predicted.name, e.count, e.reverse) for e in errors] == [
        ("mel", "nv", "59", "5"),
        ("bkl", "nv", "28", "10"),
        ("bcc", "nv", "14", "3"),
    ]
    assert errors[0].share == "35\u202f%"


def test_the_list_says_how_many_errors_and_kinds_there_are() -> None:
    cut = most_frequent(_lesions(), at_most=3)

    assert (cut.n_errors_text, cut.n_kinds_text, cut.is_cut) == ("204 errors", "26 kinds", True)
    assert not most_frequent(_lesions(), at_most=42).is_cut


def test_a_perfect_run_has_no_confusions() -> None:
    perfect = ConfusionMatrix(np.diag([3, 4]), LabelSet(("a", "b")))

    assert most_frequent(perfect, at_most=5).errors == ()


def _lesions() -> ConfusionMatrix:
    return ConfusionMatrix(np.array(LESION_COUNTS), LabelSet(LESIONS))
