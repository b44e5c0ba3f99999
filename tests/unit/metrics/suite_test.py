"""The suite: its keys, stacks of matrices, and every undefined case with its reason."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.aggregates import agreement
from offdiag.metrics.catalogue import SPECS
from offdiag.metrics.suite import (
    AGGREGATE_KEYS,
    PER_CLASS_KEYS,
    SUITE_VERSION,
    Suite,
    evaluate_stack,
)
from support.optional import present
from support.published_matrices import ALWAYS_NEGATIVE, THREE_CLASSES, WINE


def suite(matrix: Any, *, ordinal: bool = True) -> Suite:
    return evaluate_stack(np.array(matrix), ordinal=ordinal)


def all_values(found: Suite) -> dict[str, MetricValue]:
    """Every value of the suite of one matrix, per-class ones as key[class]."""
    values = {key: found.aggregate[key].at() for key in AGGREGATE_KEYS}
    for key in PER_CLASS_KEYS:
        for code in range(found.per_class[key].shape[-1]):
            values[f"{key}[{code}]"] = found.per_class[key].at(code)
    return values


def test_the_keys_are_the_published_ones_in_their_order() -> None:
    assert AGGREGATE_KEYS[:5] == (
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "overall_accuracy",
    )
    assert len(AGGREGATE_KEYS) == 50
    assert PER_CLASS_KEYS[:6] == ("tp", "fn", "fp", "tn", "support", "predicted")
    assert len(PER_CLASS_KEYS) == 34


def test_other_keys_are_another_version_of_the_suite() -> None:
    """Else runs that were evaluated before lack a new metric and are not evaluated again."""
    keys = "\n".join(sorted(f"{spec.scope} {spec.key}" for spec in SPECS))
    digest = hashlib.sha256(keys.encode()).hexdigest()[:12]

    assert (SUITE_VERSION, digest) == (11, "8dd0fe83f6fd"), (
        "raise SUITE_VERSION in metrics/suite.py, then write the new version and digest here"
    )


def test_quantities_have_the_shape_of_the_stack() -> None:
    stack = np.broadcast_to(np.array(WINE), (2, 5, 3, 3))

    found = evaluate_stack(stack, ordinal=False)

    assert found.aggregate["mcc"].shape == (2, 5)
    assert found.per_class["recall"].shape == (2, 5, 3)


def test_an_empty_stack_has_empty_quantities() -> None:
    found = evaluate_stack(np.zeros((0, 3, 3), np.int64), ordinal=True)

    assert {found.aggregate[key].shape for key in AGGREGATE_KEYS} == {(0,)}
    assert {found.per_class[key].shape for key in PER_CLASS_KEYS} == {(0, 3)}


def stack_of_all_kinds(n_classes: int) -> NDArray[np.int64]:
    generator = np.random.default_rng(n_classes)
    dense = generator.integers(0, 1000, (5, n_classes, n_classes))
    sparse = generator.integers(0, 2, (5, n_classes, n_classes))
    return np.concatenate([dense, sparse, np.zeros_like(dense[:1])])


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 10, 33, 130])
@pytest.mark.parametrize("factor", [1, 10**6, 10**11])
def test_a_matrix_gives_the_same_bits_alone_and_in_a_stack(n_classes: int, factor: int) -> None:
    stack = stack_of_all_kinds(n_classes) * factor

    together = evaluate_stack(stack, ordinal=True)

    for place, matrix in enumerate(stack):
        alone = evaluate_stack(matrix, ordinal=True)
        for key in AGGREGATE_KEYS:
            one, many = alone.aggregate[key], together.aggregate[key]
            assert one.value.tobytes() == many.value[place].tobytes(), key
            assert one.reason == many.reason[place], key
        for key in PER_CLASS_KEYS:
            one, many = alone.per_class[key], together.per_class[key]
            assert one.value.tobytes() == many.value[place].tobytes(), key
            assert one.to_infinity.tobytes() == many.to_infinity[place].tobytes(), key


@pytest.mark.parametrize(
    "matrix",
    [
        [[0]],
        [[7]],
        [[0, 0], [0, 0]],
        [[1, 0], [0, 0]],
        [[0, 1], [0, 0]],
        [[5, 0, 1], [0, 0, 0], [2, 0, 4]],
        [[0, 3, 0], [0, 5, 0], [0, 2, 0]],
        [[0, 0, 0], [4, 5, 6], [0, 0, 0]],
        ALWAYS_NEGATIVE,
        [[0.0, 0.0], [0.0, 0.0]],
        [[0.3, 0.0], [0.1, 0.0]],
        [[10**16, 0], [10**16, 0]],
    ],
)
@pytest.mark.parametrize("ordinal", [True, False])
def test_a_value_is_finite_or_none_with_a_reason(matrix: Any, ordinal: bool) -> None:
    values = all_values(suite(matrix, ordinal=ordinal))

    for key, value in values.items():
        if value.value is None:
            assert value.reason, key
        else:
            assert np.isfinite(value.value), key
            assert value.reason is None, key
            assert value.limit is None, key


def test_without_cases_only_counts_are_defined() -> None:
    values = all_values(suite([[0, 0], [0, 0]]))

    defined = {key.partition("[")[0] for key, value in values.items() if value.is_defined}
    assert defined == {
        *("n", "n_classes", "n_classes_actual", "n_classes_predicted"),
        *("tp", "fn", "fp", "tn", "support", "predicted"),
    }


def test_an_absent_class_has_undefined_recall() -> None:
    recall = suite([[5, 1], [0, 0]]).per_class["recall"]

    assert recall.at(1) == MetricValue(None, "no_actual_positives")


def test_a_class_that_is_never_predicted_has_undefined_precision_but_f1_zero() -> None:
    found = suite(ALWAYS_NEGATIVE).per_class

    assert found["precision"].at(0) == MetricValue(None, "no_predicted_positives")
    assert found["f1"].at(0) == MetricValue(0.0)


def test_a_class_in_neither_margin_has_no_f1() -> None:
    found = suite([[5, 0, 1], [0, 0, 0], [2, 0, 4]]).per_class

    for key in ("f1", "f0_5", "f2", "jaccard"):
        assert found[key].at(1) == MetricValue(None, "class_absent"), key


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[3, 2], [0, 0]], "constant_actual"),
        ([[3, 0], [2, 0]], "constant_predicted"),
        ([[3, 0], [0, 0]], "constant_margin"),
        ([[0, 3], [0, 0]], "constant_margin"),
        ([[0, 0], [0, 0]], "no_cases"),
    ],
)
def test_a_constant_margin_makes_the_correlation_undefined(matrix: Any, reason: str) -> None:
    assert suite(matrix).aggregate["mcc"].at() == MetricValue(None, reason)


def test_a_constant_predictor_has_kappa_zero_and_no_correlation() -> None:
    found = suite(ALWAYS_NEGATIVE).aggregate

    assert found["cohen_kappa"].at() == MetricValue(0.0)
    assert found["mcc"].at() == MetricValue(None, "constant_predicted")


def test_kappa_needs_a_second_class_somewhere() -> None:
    found = suite([[3, 0], [0, 0]]).aggregate

    for key in ("cohen_kappa", "scott_pi", "kappa_linear", "kappa_quadratic"):
        assert found[key].at() == MetricValue(None, "chance_agreement_certain"), key


def test_weighted_kappas_need_a_declared_order() -> None:
    found = suite(WINE, ordinal=False).aggregate

    for key in ("kappa_linear", "kappa_quadratic"):
        assert found[key].at() == MetricValue(None, "order_not_declared"), key


def test_one_actual_class_leaves_adjusted_balanced_accuracy_undefined() -> None:
    found = suite([[3, 1], [0, 0]]).aggregate

    assert found["balanced_accuracy"].at().value == 0.75
    assert found["balanced_accuracy_adjusted"].at() == MetricValue(None, "single_actual_class")


def test_one_declared_class_leaves_gwet_undefined() -> None:
    assert suite([[4]]).aggregate["gwet_ac1"].at().reason == "single_class_declared"


def test_entropies_of_two_constants_do_not_normalise() -> None:
    found = suite([[0, 5], [0, 0]]).aggregate

    assert found["mutual_information"].at() == MetricValue(0.0)
    assert found["normalized_mutual_information"].at() == MetricValue(None, "constant_margin")


def test_rounding_next_to_independence_does_not_make_information_negative() -> None:
    # One case in 5e16 away from independence: the terms cancel to -3e-17 and not to 0.
    matrix = [
        [27150046895675248, 10137213238433033],
        [8052836461722348, 3006746938610682],
    ]

    assert suite(matrix).aggregate["mutual_information"].at().value == pytest.approx(0, abs=1e-30)
    assert (suite(matrix).aggregate["mutual_information"].at().value or 0) >= 0


@pytest.mark.parametrize(
    ("key", "matrix"),
    [
        ("lr_plus", [[3, 1], [0, 5]]),
        ("lr_minus", [[3, 1], [5, 0]]),
        ("dor", [[3, 0], [0, 5]]),
        ("dor", [[3, 1], [0, 5]]),
    ],
)
def test_a_positive_ratio_over_zero_tends_to_infinity(key: str, matrix: Any) -> None:
    assert suite(matrix).per_class[key].at(0) == MetricValue(None, "positive_over_zero", "+inf")


def test_a_ratio_of_rates_that_do_not_exist_has_no_limit() -> None:
    ratio = suite([[3, 1], [0, 0]]).per_class["lr_plus"]

    assert ratio.at(0) == MetricValue(None, "no_actual_negatives")
    assert ratio.at(1) == MetricValue(None, "no_actual_positives")


def test_a_perfect_prediction_scores_exactly_one() -> None:
    found = suite(np.diag([3, 1, 10**15])).aggregate

    for key in ("mcc", "cohen_kappa", "kappa_quadratic", "gmean_multiclass", "macro_f1"):
        assert found[key].at() == MetricValue(1.0), key


def test_a_thousand_classes_are_no_special_case() -> None:
    generator = np.random.default_rng(3)
    matrix = generator.integers(0, 3, (1000, 1000)) + 500 * np.eye(1000, dtype=np.int64)

    found = suite(matrix)

    recalls = np.diagonal(matrix) / matrix.sum(axis=1)
    assert found.aggregate["macro_recall"].at().value == pytest.approx(recalls.mean(), rel=1e-13)
    mean_log = np.log(recalls).mean()
    assert found.aggregate["gmean_multiclass"].at().value == pytest.approx(np.exp(mean_log))


@pytest.mark.parametrize("cell", [1, 10**12, 10**30, 0.3])
def test_weighted_kappas_are_the_same_with_few_distances_at_once(
    cell: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = np.random.default_rng(4).integers(0, 9, (12, 12)).astype(object) * cell
    matrix = counts.astype(type(cell)) if cell < 10**15 else counts
    whole = suite(matrix).aggregate

    monkeypatch.setattr(agreement, "_DISTANCES_AT_ONCE", 40)
    in_parts = suite(matrix).aggregate

    for key in ("kappa_linear", "kappa_quadratic"):
        value = whole[key].at().value
        assert value is not None
        assert in_parts[key].at().value == pytest.approx(value, rel=1e-14), key
        if cell != 0.3:
            assert in_parts[key].at().value == value, key


def test_geometric_mean_of_many_small_recalls_does_not_vanish() -> None:
    matrix = np.ones((1000, 1000), np.int64)

    assert suite(matrix).aggregate["gmean_multiclass"].at().value == pytest.approx(1e-3)


def test_weights_have_no_binomial_p_value() -> None:
    found = suite(np.array(THREE_CLASSES) / 3).aggregate

    assert found["nir_p_value"].at() == MetricValue(None, "fractional_weights")


@pytest.mark.parametrize("cases_in_a_cell", [10**14, 1_422_478_562_826_238, 10**17])
def test_the_p_value_is_a_number_however_many_cases_there_are(cases_in_a_cell: int) -> None:
    counts = np.full((3, 3), cases_in_a_cell)

    found = evaluate_stack(counts, ordinal=False).aggregate["nir_p_value"].at()

    assert found.value == pytest.approx(0.5, abs=1e-7)


def test_a_p_value_below_every_float_is_not_0() -> None:
    found = suite(np.array([[20_000, 0], [0, 20_000]])).aggregate["nir_p_value"].at()

    assert 0 < present(found.value) < 1e-300
