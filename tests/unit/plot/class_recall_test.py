"""Pictures of the recall of every class."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag import evaluate_labels, evaluate_matrix, plot, stats
from offdiag.metrics.intervals.proportions import wilson
from offdiag.sdk.evaluations.evaluation import Evaluation
from support.pictures import heading, lines_are_finite_and_inside, rendered, texts, tick_names


@pytest.fixture
def evaluation() -> Evaluation:
    return evaluate_matrix(
        [[12, 3, 0], [10, 60, 0], [0, 0, 0]],
        labels=["rare", "frequent", "absent"],
        orientation="actual_rows",
    )


def test_classes_stand_below_each_other_the_largest_on_top(evaluation: Evaluation) -> None:
    ax = plot.class_recall(evaluation)

    assert tick_names(ax, "y") == ["frequent (70)", "rare (15)", "absent (0)"]
    low, high = ax.get_ylim()
    assert low > high
    assert ax.get_xlabel() == "Recall (share of the examples found)"
    assert ax.get_ylabel() == "Actual class (examples)"


def test_dots_are_recalls_with_the_intervals_of_wilson(evaluation: Evaluation) -> None:
    low, high = wilson(60, 70).at()

    ax = plot.class_recall(evaluation)

    interval, dot, *_ = ax.get_lines()
    assert list(interval.get_xdata()) == [low, high]  # type: ignore[arg-type]
    assert list(dot.get_xdata()) == [60 / 70]  # type: ignore[arg-type]
    assert heading(ax) == "Recall by class, with 95 % Wilson intervals"
    rendered(ax)
    assert lines_are_finite_and_inside(ax)


def test_a_class_without_cases_is_called_undefined(evaluation: Evaluation) -> None:
    ax = plot.class_recall(evaluation)

    assert texts(ax) == ["undefined (there is no example of this class)"]
    assert ax.texts[0].get_position()[1] == 2


def test_intervals_of_the_evaluation_are_taken_if_it_has_any(evaluation: Evaluation) -> None:
    wide = stats.suite_intervals(evaluation, confidence=0.999)

    ax = plot.class_recall(wide)

    value = wide.per_class["recall"]["frequent"]
    assert list(ax.get_lines()[0].get_xdata()) == [value.ci_low, value.ci_high]  # type: ignore[arg-type]
    assert heading(ax) == "Recall by class, with 99.9 % CI"


def test_sums_of_weights_have_no_intervals_of_their_own() -> None:
    weighted = evaluate_labels(
        y_true=["a", "a", "b"], y_pred=["a", "b", "b"], sample_weight=[0.5, 1.0, 2.25]
    )

    ax = plot.class_recall(weighted)

    assert heading(ax) == "Recall by class, without intervals"
    assert ax.get_ylabel() == "Actual class (weight)"
    assert tick_names(ax, "y") == ["b (2.25)", "a (1.5)"]
    assert len(ax.get_lines()) == 2


def test_of_many_classes_those_with_the_lowest_recall_are_drawn() -> None:
    counts = np.diag(np.arange(1, 81))
    counts[:, 0] += 5

    ax = plot.class_recall(evaluate_matrix(counts, orientation="actual_rows"))

    assert heading(ax).split("\n")[1] == "the 60 of 80 classes with the lowest recall"
    assert "79 (85)" not in tick_names(ax, "y")
    assert "1 (7)" in tick_names(ax, "y")
