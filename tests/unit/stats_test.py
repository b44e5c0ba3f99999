"""`offdiag.stats`: the public names, scalars and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag import stats
from offdiag.errors import InvalidInput
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.resampling import permutation_test as core_permutation_test
from offdiag.metrics.suite import evaluate_stack
from support.matrices import numbered_labels

TRUTH = ["a", "a", "b", "b", "c", "c", "a", "b", "b", "a"] * 12
FIRST = ["a", "a", "b", "b", "c", "c", "a", "a", "b", "a"] * 12
SECOND = ["a", "b", "b", "b", "a", "c", "b", "a", "b", "a"] * 12


@pytest.mark.parametrize("method", [stats.wilson, stats.clopper_pearson])
def test_single_counts_give_two_numbers(method: Any) -> None:
    low, high = method(2, 5)

    assert type(low) is float
    assert type(high) is float
    assert 0 < low < 0.4 < high < 1


@pytest.mark.parametrize("method", [stats.wilson, stats.clopper_pearson])
def test_without_cases_there_are_no_numbers(method: Any) -> None:
    assert method(0, 0) == (None, None)
    assert method(np.int64(0), np.int64(0)) == (None, None)


@pytest.mark.parametrize("method", [stats.wilson, stats.clopper_pearson])
def test_arrays_give_arrays_masked_where_there_are_no_cases(method: Any) -> None:
    low, high = method([2, 0, 5], [5, 0, 5])

    assert low.tolist()[1] is None
    assert high.tolist()[1] is None
    assert (low[0], high[0]) == method(2, 5)
    assert high[2] == 1.0


@pytest.mark.parametrize("method", [stats.wilson, stats.clopper_pearson])
def test_the_confidence_may_be_changed_and_is_checked(method: Any) -> None:
    low, high = method(20, 50)

    wider_low, wider_high = method(20, 50, confidence=0.99)

    assert wider_low < low < high < wider_high
    with pytest.raises(InvalidInput, match="confidence"):
        method(20, 50, confidence=99)


def test_every_public_name_is_there() -> None:
    promised = {
        *("mcnemar", "wilson", "clopper_pearson", "delong", "bowker", "stuart_maxwell"),
        *("cochran_q", "holm", "benjamini_hochberg", "permutation_test", "paired_difference"),
        *("suite_intervals", "score_intervals", "multilabel_intervals"),
    }

    assert promised <= set(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)


def test_paired_difference_speaks_of_labels() -> None:
    found = stats.paired_difference(y_true=TRUTH, pred_a=FIRST, pred_b=SECOND, seed=4)

    accuracy = found.aggregate["overall_accuracy"]
    assert accuracy.value == pytest.approx(-0.3)
    assert accuracy.ci_method == "tango score"
    assert found.per_class["recall"]["c"].value == pytest.approx(-0.5)
    assert found.per_class["recall"]["c"].ci_high is not None
    assert (found.seed, found.replicates) == (4, 0)
    assert list(found.per_class["recall"]) == ["a", "b", "c"]


def test_declared_labels_give_the_order() -> None:
    found = stats.paired_difference(
        y_true=[1, 2, 3], pred_a=[1, 2, 2], pred_b=[1, 3, 3], labels=[3, 2, 1], ordinal=True
    )

    assert list(found.per_class["recall"]) == ["3", "2", "1"]
    assert found.aggregate["kappa_linear"].reason is None


def test_a_permutation_test_takes_a_metric_by_name() -> None:
    codes = [
        np.array([ord(label) - ord("a") for label in each]) for each in (TRUTH, FIRST, SECOND)
    ]
    joint = joint_counts(
        actual=codes[0], first=codes[1], second=codes[2], labels=numbered_labels(3)
    )
    expected = core_permutation_test(
        joint,
        lambda stack: evaluate_stack(stack, ordinal=False).per_class["recall"].value[:, 1],
        seed=0,
        replicates=500,
    )

    found = stats.permutation_test(
        y_true=TRUTH, pred_a=FIRST, pred_b=SECOND, metric="recall", label="b", replicates=500
    )

    assert found == expected


def test_a_permutation_test_of_an_aggregate_needs_no_label() -> None:
    found = stats.permutation_test(
        y_true=TRUTH, pred_a=FIRST, pred_b=SECOND, metric="macro_f1", replicates=500
    )

    assert found.p is not None
    assert found.p < 0.05


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"metric": "f1"}, "metric"),
        ({"metric": "macro_f1", "label": "a"}, "metric"),
        ({"metric": "recall", "label": "x"}, "label"),
        ({"pred_a": ["a"]}, "pred_a"),
        ({"pred_b": ["z"] * 120, "labels": ["a", "b", "c"]}, "pred_b"),
        ({"ordinal": True}, "ordinal"),
    ],
)
def test_unusable_arguments_are_refused(changes: dict[str, Any], field: str) -> None:
    arguments: dict[str, Any] = {
        "y_true": TRUTH,
        "pred_a": FIRST,
        "pred_b": SECOND,
        "metric": "macro_f1",
    }

    with pytest.raises(InvalidInput) as caught:
        stats.permutation_test(**(arguments | changes))

    assert caught.value.field == field
