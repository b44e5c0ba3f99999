"""The suite against PyCM, under PyCM's names, several of which mean something else elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pycm
import pytest
from numpy.typing import NDArray

from offdiag.metrics.suite import Suite, evaluate_stack
from support.published_matrices import EXERCISE, THREE_CLASSES, WINE

PER_CLASS = {
    "tp": "TP",
    "fn": "FN",
    "fp": "FP",
    "tn": "TN",
    "support": "P",
    "predicted": "TOP",
    "prevalence": "PRE",
    "recall": "TPR",
    "specificity": "TNR",
    "precision": "PPV",
    "npv": "NPV",
    "fpr": "FPR",
    "fnr": "FNR",
    "fdr": "FDR",
    "for": "FOR",
    "f1": "F1",
    "f0_5": "F0.5",
    "f2": "F2",
    "jaccard": "J",
    "accuracy_ovr": "ACC",
    "balanced_accuracy_ovr": "AUC",
    "informedness": "BM",
    "markedness": "MK",
    "gmean": "GM",
    "fowlkes_mallows": "G",
    "mcc_ovr": "MCC",
    "lr_plus": "PLR",
    "lr_minus": "NLR",
    "dor": "DOR",
    "lift": "LS",
}
AGGREGATE = {
    "overall_accuracy": "Overall ACC",
    "average_accuracy": "ACC Macro",
    "error_rate": "Hamming Loss",
    "majority_baseline": "NIR",
    "nir_p_value": "P-Value",
    "mcc": "Overall MCC",
    "cohen_kappa": "Kappa",
    "scott_pi": "Scott PI",
    "gwet_ac1": "Gwet AC1",
    "macro_precision_strict": "PPV Macro",
    "macro_recall_strict": "TPR Macro",
    "macro_f1_strict": "F1 Macro",
    "micro_f1": "F1 Micro",
}
DENSE = [
    np.array(WINE),
    np.array(THREE_CLASSES),
    np.array(EXERCISE) + 1,
    *(np.random.default_rng(k).integers(1, 90, (k, k)) for k in (2, 3, 5)),
]


def theirs(matrix: NDArray[np.int64]) -> pycm.ConfusionMatrix:
    return pycm.ConfusionMatrix(
        matrix={actual: dict(enumerate(row)) for actual, row in enumerate(matrix.tolist())}
    )


def ours(matrix: NDArray[np.int64]) -> Suite:
    return evaluate_stack(matrix, ordinal=False)


@pytest.mark.parametrize("matrix", DENSE)
def test_class_values(matrix: NDArray[np.int64]) -> None:
    expected, found = theirs(matrix), ours(matrix)

    for key, name in PER_CLASS.items():
        for code in range(len(matrix)):
            number = expected.class_stat[name][code]
            assert found.per_class[key].at(code).value == pytest.approx(number, rel=1e-12), key


@pytest.mark.parametrize("matrix", DENSE)
def test_aggregates(matrix: NDArray[np.int64]) -> None:
    expected, found = theirs(matrix), ours(matrix)

    for key, name in AGGREGATE.items():
        number = expected.overall_stat[name]
        assert found.aggregate[key].at().value == pytest.approx(number, rel=1e-9), key


def test_their_mutual_information_is_in_bits() -> None:
    matrix = np.array(WINE)

    bits = theirs(matrix).overall_stat["Mutual Information"]

    found = ours(matrix).aggregate["mutual_information"].at().value
    assert found == pytest.approx(bits * math.log(2), rel=1e-12)


@pytest.mark.parametrize(("key", "name"), [("precision", "PPV"), ("mcc_ovr", "MCC")])
def test_what_is_undefined_here_is_a_word_there(key: str, name: str) -> None:
    matrix = np.array([[0, 10], [0, 990]])

    assert theirs(matrix).class_stat[name][0] == "None"
    assert ours(matrix).per_class[key].at(0).value is None
