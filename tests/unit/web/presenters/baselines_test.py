from collections.abc import Mapping

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import confusion_matrix
from offdiag.services.evaluation.compute import of_matrix
from offdiag_web.components.tiles import majority_scores


def test_the_baselines_are_what_the_constant_answer_really_scores() -> None:
    real = _evaluated([[60, 6, 0], [20, 4, 0], [5, 0, 5]])
    constant = _evaluated([[66, 0, 0], [24, 0, 0], [10, 0, 0]])

    baselines = majority_scores(real)

    assert set(baselines) == {"overall_accuracy", "balanced_accuracy", "macro_f1"}
    assert baselines == pytest.approx({key: constant[key].value for key in baselines})


def test_without_cases_there_is_no_baseline() -> None:
    assert majority_scores({}) == {}


def _evaluated(counts: list[list[int]]) -> Mapping[str, MetricValue]:
    matrix = confusion_matrix(counts, orientation=SourceOrientation.ACTUAL_ROWS)
    return of_matrix(matrix).aggregate
