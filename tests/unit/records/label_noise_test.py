"""How much label noise the order of two models withstands, in words."""

from __future__ import annotations

import pytest

from offdiag.records.datasets.label_errors import pair_statement
from offdiag.services.samples.noise import NoisyPair
from offdiag.services.samples.suspects import Family

A, B = (Family(name, f"r_{name}", name, 1, has_probabilities=True) for name in "AB")


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0389, "under any noise up to 3.8 %"),
        (0.001, "under any noise up to 0.1 %"),
        (0.00099, "under any noise up to 0.09 %"),
        (3 / 40_000, "under any noise up to 0.007 %"),
        (0.0, "if all labels are right; one wrong label can end that"),
    ],
)
def test_noise_that_an_order_withstands_is_rounded_down_and_never_to_nothing(
    share: float, said: str
) -> None:
    assert pair_statement(NoisyPair(A, B, 0.1, share)) == f"A leads B {said}."
