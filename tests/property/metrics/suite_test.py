"""Laws that hold for every confusion matrix (Zeng 2025, Theorems 1 and 2, Properties 1 to 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from offdiag.sdk.evaluations.evaluate import evaluate_matrix

Matrix = NDArray[np.int64]

ORDER_DEPENDENT = {"kappa_linear", "kappa_quadratic"}
UNMOVED_BY_ROLE_SWAP = {
    *("overall_accuracy", "average_accuracy", "error_rate", "average_error_rate"),
    *("micro_precision", "micro_recall", "micro_f1", "micro_jaccard", "weighted_recall"),
    *("macro_f1", "macro_f1_harmonic", "macro_jaccard", "mcc", "cohen_kappa"),
    *("kappa_linear", "kappa_quadratic", "scott_pi", "gwet_ac1", "mutual_information"),
    "normalized_mutual_information",
}


def matrices(smallest: int = 1, largest: int = 5) -> st.SearchStrategy[Matrix]:
    """Mostly small cells with many zeros, some cells too large for 64-bit products."""
    cell = st.one_of(st.integers(0, 3), st.integers(0, 60), st.integers(0, 10**16))
    return st.integers(smallest, largest).flatmap(
        lambda k: arrays.arrays(np.int64, (k, k), elements=cell)
    )


class Aggregates:
    """Aggregate values of a matrix; only what is asked for is computed."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        self._quantities = evaluate_stack(matrix, ordinal=True).aggregate

    def __getitem__(self, key: str) -> MetricValue:
        return self._quantities[key].at()


class ClassValues:
    """Per-class values of a matrix, a list in label order for each key."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        self._quantities = evaluate_stack(matrix, ordinal=True).per_class

    def __getitem__(self, key: str) -> list[MetricValue]:
        quantity = self._quantities[key]
        return [quantity.at(code) for code in range(*quantity.shape)]


def assert_same(one: MetricValue, other: MetricValue, key: str) -> None:
    """Equal up to the order in which floats were added."""
    assert (one.reason, one.limit) == (other.reason, other.limit), key
    assert_close(one.value, other.value, key)


def assert_close(one: float | None, other: float | None, key: str) -> None:
    if one is None or other is None:
        assert one is other, key
    else:
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12), key


@given(matrices(), st.randoms(use_true_random=False))
def test_renaming_classes_moves_class_values_along_and_aggregates_nowhere(
    matrix: Matrix, shuffler: object
) -> None:
    order = list(range(len(matrix)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]  # Hypothesis types it as object.
    permuted = matrix[np.ix_(order, order)]

    before, after = Aggregates(matrix), Aggregates(permuted)
    classes_before, classes_after = ClassValues(matrix), ClassValues(permuted)

    for key in set(AGGREGATE_KEYS) - ORDER_DEPENDENT:
        assert_same(before[key], after[key], key)
    for key in PER_CLASS_KEYS:
        assert [classes_before[key][code] for code in order] == classes_after[key], key


@given(matrices())
def test_reversing_an_order_leaves_weighted_kappas_alone(matrix: Matrix) -> None:
    before, after = Aggregates(matrix), Aggregates(matrix[::-1, ::-1])

    for key in ORDER_DEPENDENT:
        assert_same(before[key], after[key], key)


@pytest.mark.filterwarnings("ignore::offdiag.errors.LabelNote")
@given(matrices())
@example(np.full((3, 3), 1_422_478_562_826_238))
def test_a_transposed_table_with_its_orientation_stated_is_the_same_table(matrix: Matrix) -> None:
    as_rows = evaluate_matrix(matrix, orientation="actual_rows")
    as_columns = evaluate_matrix(matrix.T, orientation="actual_columns")

    assert as_rows.to_dict() == as_columns.to_dict()


@given(matrices())
def test_swapping_truth_and_prediction_swaps_precision_and_recall(matrix: Matrix) -> None:
    before, after = ClassValues(matrix), ClassValues(matrix.T)

    assert [value.value for value in before["precision"]] == [
        value.value for value in after["recall"]
    ]
    for key in ("f1", "jaccard", "mcc_ovr", "accuracy_ovr"):
        for one, other in zip(before[key], after[key], strict=True):
            assert_close(one.value, other.value, key)


@given(matrices())
def test_some_aggregates_cannot_see_a_swap_of_truth_and_prediction(matrix: Matrix) -> None:
    before, after = Aggregates(matrix), Aggregates(matrix.T)

    for key in UNMOVED_BY_ROLE_SWAP:
        assert_close(before[key].value, after[key].value, key)


@given(matrices())
def test_micro_averages_and_weighted_recall_are_the_accuracy(matrix: Matrix) -> None:
    found = Aggregates(matrix)

    for key in ("micro_precision", "micro_recall", "micro_f1", "weighted_recall"):
        assert found[key] == found["overall_accuracy"], key


@given(matrices())
def test_macro_averages_order_themselves_by_what_they_leave_out(matrix: Matrix) -> None:
    found = Aggregates(matrix)

    for key in ("precision", "recall", "f1", "jaccard"):
        all_labels, occurring, defined = (
            found[f"macro_{key}{suffix}"].value for suffix in ("_all_labels", "", "_defined")
        )
        strict = found[f"macro_{key}_strict"].value
        if all_labels is not None and occurring is not None and defined is not None:
            assert all_labels <= occurring * (1 + 1e-15) <= defined * (1 + 1e-14), key
            if strict is not None:
                assert strict == all_labels == occurring == defined, key


@given(matrices(smallest=2, largest=2))
def test_two_classes_mirror_each_other(matrix: Matrix) -> None:
    values, found = ClassValues(matrix), Aggregates(matrix)

    for of_one, of_other in (
        ("recall", "specificity"),
        ("precision", "npv"),
        ("fpr", "fnr"),
        ("fdr", "for"),
        ("tp", "tn"),
        ("fp", "fn"),
    ):
        assert values[of_one][0].value == values[of_other][1].value, of_one
    for key in ("mcc_ovr", "informedness", "markedness", "gmean", "p4", "dor"):
        assert values[key][0].value == values[key][1].value, key
    if found["mcc"].value is not None:
        assert values["mcc_ovr"][0].value == pytest.approx(found["mcc"].value, abs=1e-12)


@given(matrices(), st.integers(2, 10**6))
def test_multiplying_all_cells_changes_counts_and_tail_probability_only(
    matrix: Matrix, factor: int
) -> None:
    before, after = Aggregates(matrix), Aggregates((matrix.astype(object)) * factor)

    for key in set(AGGREGATE_KEYS) - {"n", "nir_p_value"}:
        assert_same(before[key], after[key], key)
    if before["n"].value is not None:
        assert after["n"].value == pytest.approx(before["n"].value * factor)
