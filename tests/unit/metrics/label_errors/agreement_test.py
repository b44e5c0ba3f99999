"""Cohen's kappa of two people, against scikit-learn and a published table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from offdiag.metrics.label_errors.agreement import agreement

KAPPA_LOW = 0.436139
"""By the large-sample standard error of Fleiss, Cohen and Everitt (1969), 0.074899."""


def test_kappa_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(3)
    first = random.choice(["a", "b", "c"], 80)
    second = np.where(random.random(80) < 0.7, first, random.choice(["a", "b", "c"], 80))

    found = agreement(first.tolist(), second.tolist())

    assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert found.kappa.ci_low == pytest.approx(KAPPA_LOW, abs=1e-5)
    assert found.share.value == np.mean(first == second)


def test_what_cannot_be_told_is_an_answer_of_its_own() -> None:
    found = agreement([None, "a", "a", None], [None, "a", None, None])

    assert (found.n, found.n_same) == (4, 3)
    assert found.kappa.value == pytest.approx(0.5)
    assert found.kappa.ci_low is None


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [([], [], "no_samples"), (["a", "a"], ["a", "a"], "one_answer_only")],
)
def test_kappa_is_undefined_with_its_reason(
    first: list[str], second: list[str], reason: str
) -> None:
    assert agreement(first, second).kappa.reason == reason
