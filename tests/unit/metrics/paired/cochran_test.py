"""Cochran's Q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.cochran import cochran_q
from offdiag.metrics.paired.mcnemar import mcnemar


def test_two_runs_give_the_chi_square_of_mcnemar() -> None:
    correct = np.array([[1, 0]] * 9 + [[0, 1]] * 4 + [[1, 1]] * 20 + [[0, 0]] * 7)

    found = cochran_q(correct)

    assert found.q == pytest.approx(mcnemar(9, 4).chi2)
    assert found.df == 1


def test_cases_on_which_all_runs_agree_do_not_matter() -> None:
    telling = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    padded = np.concatenate([telling, np.ones((30, 3)), np.zeros((10, 3))])

    assert cochran_q(telling) == cochran_q(padded)


@pytest.mark.parametrize("correct", [np.ones((5, 3)), np.zeros((4, 2)), np.ones((0, 3))])
def test_without_a_case_that_tells_runs_apart_it_is_undefined(correct: Any) -> None:
    found = cochran_q(correct)

    assert (found.q, found.p) == (None, None)
    assert found.reason == "no_discordant_pairs"


@pytest.mark.parametrize("correct", [[[1], [0]], [1, 0, 1], [[1, 2]], [[0.5, 1]], [["a", "b"]]])
def test_other_shapes_and_values_are_refused(correct: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        cochran_q(correct)

    assert caught.value.field == "correct"
