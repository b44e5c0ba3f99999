"""Values of single classes."""

from __future__ import annotations

from offdiag.comparison.class_values import class_values
from offdiag.stats import wilson
from support.matrices import matrix_of


def test_every_value_has_wilsons_interval() -> None:
    found = class_values(matrix_of([[8, 2, 0], [1, 9, 0], [0, 0, 0]]))

    recall = found["recall"][0]
    assert (recall.value, (recall.ci_low, recall.ci_high)) == (0.8, wilson(8, 10))
    precision = found["precision"][1]
    assert (precision.value, (precision.ci_low, precision.ci_high)) == (9 / 11, wilson(9, 11))
    assert found["f1"][0].ci_low is not None


def test_a_class_without_cases_has_no_recall() -> None:
    found = class_values(matrix_of([[8, 2], [0, 0]]))

    assert found["recall"][1].reason == "no_actual_positives"
    assert found["recall"][1].ci_low is None
