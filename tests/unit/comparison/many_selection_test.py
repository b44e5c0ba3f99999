"""A run that was chosen for being highest is not as good as it looks."""

from __future__ import annotations

import numpy as np
import pytest

import offdiag.comparison.many as comparison_of_many
from offdiag.comparison.many import ManyComparison, best_by_metric
from offdiag.comparison.many_verdict import many_verdict, selection_sentence
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.many_runs.best_runs import BestOfMany
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from support.matrices import numbered_labels
from unit.comparison.many_test import BAD, EQUALLY_GOOD, GOOD, actual, compared, run


def test_the_sentence_has_the_value_and_what_is_expected() -> None:
    found = BestOfMany(3, 50, 0.873, MetricValue(0.853))

    assert selection_sentence("balanced_accuracy", found) == (
        "The highest balanced accuracy of 50 runs is 0.873; chosen for being highest, that run is "
        "expected to reach about 0.853 on new examples."
    )


def test_the_best_value_of_a_loss_is_the_lowest() -> None:
    said = selection_sentence("hamming_loss", BestOfMany(3, 9, 0.061, MetricValue(0.066)))

    assert said.startswith("The lowest Hamming loss of 9 runs is 0.061; chosen for being lowest,")


def test_what_could_not_be_corrected_is_said() -> None:
    found = BestOfMany(3, 50, 0.873, MetricValue(None, Reason.TOO_FEW_OF_A_CLASS))

    assert "not corrected for that, because a class has too few" in selection_sentence(
        "mcc", found
    )


def test_equally_good_runs_are_corrected_downwards() -> None:
    runs = [run(right=0.8, seed=seed) for seed in range(6)]
    many = compared(*runs)

    for key, best in many.best_of_many.items():
        values = [place.value.value for place in many.places[key]]
        assert best.value == values[best.run] == max(each for each in values if each is not None)
        assert best.corrected.value is not None
        assert best.corrected.value < best.value
    leading = many.best_of_many["balanced_accuracy"]
    assert selection_sentence("balanced_accuracy", leading) in many_verdict(many).details
    assert compared(*runs).best_of_many == many.best_of_many


def test_lower_is_better_for_an_error_rate() -> None:
    runs = PairedRuns(actual(), (BAD, GOOD, EQUALLY_GOOD), numbered_labels(3))
    keys = ("overall_accuracy", "error_rate", "n", "log_loss")
    found = best_by_metric(runs, keys)

    right, wrong = found["overall_accuracy"], found["error_rate"]
    assert set(found) == {"overall_accuracy", "error_rate"}
    assert wrong.run == right.run
    assert wrong.value == pytest.approx(1 - right.value)
    assert wrong.corrected.value == pytest.approx(1 - (right.corrected.value or 0))


def test_a_run_without_predictions_leaves_the_choice_uncorrected_and_it_is_said() -> None:
    matrix = ConfusionMatrix(np.diag([150, 150, 150]) + 10, LabelSet(("0", "1", "2")))
    many = compared(GOOD, EQUALLY_GOOD, matrix)

    assert many.best_of_many == {}
    assert any("because not all runs have predictions" in each for each in _details(many))


def test_too_many_predictions_leave_the_choice_uncorrected_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison_of_many, "MOST_PREDICTIONS", 100)
    many = compared(GOOD, EQUALLY_GOOD, BAD)

    assert many.best_of_many == {}
    assert any("because there are too many predictions" in each for each in _details(many))


def _details(many: ManyComparison) -> tuple[str, ...]:
    return many_verdict(many).details
