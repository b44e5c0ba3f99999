"""Tensors are arrays: part of a gradient, of 16 bits, alone or in lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.inputs.scores import read_scores

torch: Any = pytest.importorskip(
    "torch", reason="torch is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = pytest.mark.integrations


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_scores_of_every_float_are_read(dtype: str) -> None:
    scores = torch.tensor([[0.25, 0.75], [0.5, 0.5]], dtype=getattr(torch, dtype))

    read = read_scores(
        scores.requires_grad_(),
        n_samples=2,
        labels=LabelSet.declared(["a", "b"]),
        positive_label=None,
    )

    np.testing.assert_array_equal(read.values, [[0.25, 0.75], [0.5, 0.5]])


def test_scores_in_memory_are_read_too() -> None:
    scores = torch.tensor([0.1, 0.9, 0.8], dtype=torch.bfloat16, requires_grad=True)

    evaluation = offdiag.evaluate_scores(y_true=torch.tensor([0, 1, 1]), y_score=scores)

    assert evaluation.aggregate["roc_auc"].value == 1.0


@pytest.mark.parametrize(
    "given",
    [
        torch.tensor,
        lambda codes: torch.tensor(codes, dtype=torch.uint8),
        lambda codes: [torch.tensor(code) for code in codes],
        lambda codes: list(np.array(codes)),
    ],
)
def test_labels_may_be_tensors_or_lists_of_them(given: Any) -> None:
    truth, found = [0, 1, 2, 2], [0, 2, 2, 1]

    matrix = offdiag.evaluate_labels(y_true=given(truth), y_pred=given(found)).matrix

    assert matrix.digest == offdiag.evaluate_labels(y_true=truth, y_pred=found).matrix.digest


def test_indicators_of_label_sets_may_be_tensors() -> None:
    truth = torch.tensor([[1, 0], [1, 1]])

    evaluation = offdiag.evaluate_multilabel(y_true=truth, y_pred=truth.bool())

    assert evaluation.aggregate["subset_accuracy"].value == 1.0
