"""The suite against scikit-learn, with the averages under the names scikit-learn users know.

Cells go in as weighted cases. Where scikit-learn gives a number to an undefined value, or
overflows, the difference is stated as a test of its own.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics as reference

from offdiag.metrics.suite import Suite, evaluate_stack
from support.published_matrices import ALWAYS_NEGATIVE, THREE_CLASSES, WINE

Matrix = NDArray[np.int64]

AVERAGED = ("precision", "recall", "f1", "jaccard")
MATRICES = [
    np.array(WINE),
    np.array(THREE_CLASSES),
    np.array(ALWAYS_NEGATIVE),
    np.array([[5, 0, 1], [0, 0, 0], [2, 0, 4]]),
    np.array([[5, 2, 1], [0, 0, 0], [2, 1, 4]]),
    np.array([[5, 0, 1, 3], [2, 0, 0, 8], [2, 0, 4, 0], [0, 0, 1, 9]]),
    *(np.random.default_rng(k).integers(0, 50, (k, k)) for k in (2, 3, 6, 12)),
]


def cases(matrix: Matrix) -> tuple[NDArray[Any], NDArray[Any]]:
    actual, predicted = np.indices(matrix.shape)
    return np.repeat(actual.ravel(), matrix.ravel()), np.repeat(predicted.ravel(), matrix.ravel())


def suite(matrix: Matrix) -> Suite:
    return evaluate_stack(matrix, ordinal=True)


def value(found: Suite, key: str) -> float | None:
    return found.aggregate[key].at().value


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("key", AVERAGED)
def test_averages_follow_the_rule_their_name_says(matrix: Matrix, key: str) -> None:
    actual, predicted = cases(matrix)
    found = suite(matrix)
    score = getattr(reference, f"{key}_score")
    declared = list(range(len(matrix)))

    macro = score(actual, predicted, average="macro", zero_division=0)
    all_labels = score(actual, predicted, average="macro", labels=declared, zero_division=0)
    weighted = score(actual, predicted, average="weighted", zero_division=0)
    micro = score(actual, predicted, average="micro", zero_division=0)

    assert value(found, f"macro_{key}") == pytest.approx(macro, rel=1e-13)
    assert value(found, f"macro_{key}_all_labels") == pytest.approx(all_labels, rel=1e-13)
    assert value(found, f"weighted_{key}") == pytest.approx(weighted, rel=1e-13)
    assert value(found, f"micro_{key}") == pytest.approx(micro, rel=1e-13)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("key", ["precision", "recall", "f1"])
def test_defined_averages_are_those_that_skip_undefined_classes(matrix: Matrix, key: str) -> None:
    actual, predicted = cases(matrix)
    score = getattr(reference, f"{key}_score")

    skipping = score(actual, predicted, average="macro", zero_division=np.nan)

    assert value(suite(matrix), f"macro_{key}_defined") == pytest.approx(skipping, rel=1e-13)


@pytest.mark.parametrize("matrix", MATRICES)
def test_weighted_precision_that_skips_undefined_classes(matrix: Matrix) -> None:
    actual, predicted = cases(matrix)

    skipping = reference.precision_score(
        actual, predicted, average="weighted", zero_division=np.nan
    )

    assert value(suite(matrix), "weighted_precision_defined") == pytest.approx(skipping)


@pytest.mark.parametrize("matrix", MATRICES)
def test_class_values(matrix: Matrix) -> None:
    actual, predicted = cases(matrix)
    declared = list(range(len(matrix)))

    precision, recall, f1, support = reference.precision_recall_fscore_support(
        actual, predicted, labels=declared, zero_division=np.nan
    )
    f2 = reference.fbeta_score(
        actual, predicted, beta=2, labels=declared, average=None, zero_division=np.nan
    )
    f0_5 = reference.fbeta_score(
        actual, predicted, beta=0.5, labels=declared, average=None, zero_division=np.nan
    )

    found = suite(matrix).per_class
    for key, expected in {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "f2": f2,
        "f0_5": f0_5,
        "support": support,
    }.items():
        np.testing.assert_allclose(found[key].value, expected, rtol=1e-13, err_msg=key)


@pytest.mark.parametrize("matrix", MATRICES)
def test_one_against_rest_counts(matrix: Matrix) -> None:
    actual, predicted = cases(matrix)

    expected = reference.multilabel_confusion_matrix(
        actual, predicted, labels=list(range(len(matrix)))
    )

    found = suite(matrix).per_class
    for code, ((tn, fp), (fn, tp)) in enumerate(expected.tolist()):
        counted = [found[key].at(code).value for key in ("tn", "fp", "fn", "tp")]
        assert counted == [tn, fp, fn, tp]


@pytest.mark.parametrize("matrix", MATRICES)
def test_agreement_and_information(matrix: Matrix) -> None:
    actual, predicted = cases(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warns about classes that are only predicted.
        balanced = reference.balanced_accuracy_score(actual, predicted)
        adjusted = reference.balanced_accuracy_score(actual, predicted, adjusted=True)
    order = list(range(len(matrix)))
    expected = {
        "overall_accuracy": reference.accuracy_score(actual, predicted),
        "error_rate": reference.zero_one_loss(actual, predicted),
        "balanced_accuracy": balanced,
        "balanced_accuracy_adjusted": adjusted,
        "cohen_kappa": reference.cohen_kappa_score(actual, predicted),
        "kappa_linear": reference.cohen_kappa_score(
            actual, predicted, labels=order, weights="linear"
        ),
        "kappa_quadratic": reference.cohen_kappa_score(
            actual, predicted, labels=order, weights="quadratic"
        ),
        "mutual_information": reference.mutual_info_score(actual, predicted),
        "normalized_mutual_information": reference.normalized_mutual_info_score(actual, predicted),
    }

    found = suite(matrix)

    for key, number in expected.items():
        assert value(found, key) == pytest.approx(number, rel=1e-11, abs=1e-14), key


@pytest.mark.parametrize("matrix", MATRICES)
def test_correlation_where_it_is_defined(matrix: Matrix) -> None:
    actual, predicted = cases(matrix)
    found = value(suite(matrix), "mcc")

    expected = reference.matthews_corrcoef(actual, predicted)

    if found is None:
        assert expected == 0.0
    else:
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_likelihood_ratios_of_two_classes() -> None:
    matrix = np.array([[35, 5], [7, 53]])
    actual, predicted = cases(matrix)

    positive, negative = reference.class_likelihood_ratios(actual, predicted)

    found = suite(matrix).per_class
    assert found["lr_plus"].at(1).value == pytest.approx(positive)
    assert found["lr_minus"].at(1).value == pytest.approx(negative)


def test_a_constant_predictor_has_no_correlation_here_and_zero_there() -> None:
    actual, predicted = cases(np.array(ALWAYS_NEGATIVE))

    assert reference.matthews_corrcoef(actual, predicted) == 0.0
    assert value(suite(np.array(ALWAYS_NEGATIVE)), "mcc") is None


def test_rare_cases_beside_very_many_keep_their_digits_here() -> None:
    # 2 of 3 found and 1 false alarm among N: the correlation tends to 2/3.
    matrix = np.array([[10**15, 1], [1, 2]])
    actual, predicted = np.indices((2, 2)).reshape(2, 4)

    theirs = reference.matthews_corrcoef(actual, predicted, sample_weight=matrix.ravel())

    assert value(suite(matrix), "mcc") == pytest.approx(2 / 3, rel=1e-12)
    assert not math.isclose(theirs, 2 / 3, rel_tol=1e-6)


def test_mutual_information_survives_products_beyond_64_bits() -> None:
    matrix = np.array([[8, 1], [1, 8]]) * 10**10

    few = value(suite(np.array([[8, 1], [1, 8]])), "mutual_information")

    assert value(suite(matrix), "mutual_information") == pytest.approx(few, rel=1e-14)
