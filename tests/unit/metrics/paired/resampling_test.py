"""How surprising a difference is, told from resampled differences."""

import numpy as np
import pytest

from offdiag.metrics.paired.resampling import two_sided_p


def test_differences_on_one_side_have_the_smallest_p_there_is() -> None:
    assert two_sided_p(np.linspace(0.1, 1, 199)) == 2 / 200


def test_differences_on_both_sides_are_no_evidence() -> None:
    assert two_sided_p(np.array([-1.0, 1.0, -2.0, 2.0])) == 1.0


def test_the_sign_does_not_matter() -> None:
    drawn = np.random.default_rng(0).normal(0.5, 1, 500)

    assert two_sided_p(drawn) == two_sided_p(-drawn)


def test_a_difference_of_zero_and_an_undefined_one_are_beyond() -> None:
    clear = np.ones(97)

    assert two_sided_p(np.append(clear, [0.0, np.nan])) == pytest.approx(2 * 3 / 100)
