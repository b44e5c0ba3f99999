"""Micro, macro and weighted averages of the labels' two-by-two tables."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from support.krstinic import indicator


def averages(actual: list[str], predicted: list[str]) -> dict[str, MetricValue]:
    return dict(label_averages(count_labels(indicator(actual), indicator(predicted))))


def test_nothing_predicted_leaves_pooled_precision_undefined() -> None:
    values = averages(["10", "01"], ["00", "00"])

    assert values["micro_precision"].reason == Reason.NO_PREDICTED_POSITIVES
    assert values["macro_precision"].value == 0.0
    assert values["macro_precision_defined"].reason == Reason.CLASS_VALUE_UNDEFINED
    assert values["micro_recall"].value == 0.0


def test_nothing_true_leaves_weighted_averages_undefined() -> None:
    values = averages(["00"], ["10"])

    assert values["weighted_f1"].reason == Reason.NO_ACTUAL_POSITIVES
    assert values["micro_recall"].reason == Reason.NO_ACTUAL_POSITIVES
    assert values["micro_f1"].value == 0.0


def test_without_cases_everything_is_undefined() -> None:
    nothing = np.zeros((0, 3), dtype=np.bool_)

    values = label_averages(count_labels(nothing, nothing))

    assert {value.reason for value in values.values()} == {Reason.NO_SAMPLES}


def test_counts_beyond_the_square_root_of_int64_stay_exact() -> None:
    huge = 10**16
    counts = LabelCounts(
        4 * huge,
        true_positives=np.array([huge, huge + 1]),
        actual=np.array([2 * huge, 2 * huge]),
        predicted=np.array([2 * huge, 2 * huge + 1]),
    )

    values = label_averages(counts)

    assert values["micro_jaccard"].value == pytest.approx((2 * huge + 1) / (6 * huge), rel=1e-15)
    assert values["micro_precision"].value == pytest.approx(0.5, rel=1e-15)
