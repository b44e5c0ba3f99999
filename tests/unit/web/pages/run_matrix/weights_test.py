"""Sums of weights in a table have their points below each other."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag_web.pages.run_matrix.weighted_page import decimals_of, weight_text


@pytest.mark.parametrize(
    ("sums", "texts"),
    [
        ([517.6512, 44.8163, 10.4711, 154.6], ["517.65", "44.82", "10.47", "154.60"]),
        ([2.0, 0.5, 0.75, 0.0], ["2.00", "0.50", "0.75", "0.00"]),
        ([1204.0, 3.0, 0.0], ["1,204", "3", "0"]),
        ([250_000.25, 1.5], ["250,000", "2"]),
        # What would be rounded to nothing is not nothing.
        ([517.6512, 0.0004], ["517.65", "0.0004"]),
        ([3e13, 5.0], ["3e+13", "5"]),
        ([2e-7, 1e-7], ["2e-07", "1e-07"]),
        ([0.0], ["0"]),
    ],
)
def test_all_sums_have_the_decimals_that_the_largest_needs(
    sums: list[float], texts: list[str]
) -> None:
    decimals = decimals_of(np.array(sums))

    assert [weight_text(each, decimals) for each in sums] == texts
