"""statsmodels as an oracle for intervals of proportions."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from offdiag.metrics.intervals.proportions import clopper_pearson, wilson

COUNTS = [(0, 7), (1, 1), (2, 5), (17, 40), (999, 1000), (123_456, 1_000_000)]


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("ours", "name"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_ends_are_those_of_statsmodels(ours: object, name: str, confidence: float) -> None:
    assert callable(ours)
    hits, cases = (np.array(part) for part in zip(*COUNTS, strict=True))

    bounds = ours(hits, cases, confidence=confidence)

    low, high = proportion_confint(hits, cases, alpha=1 - confidence, method=name)
    assert bounds.low == pytest.approx(low, rel=1e-9, abs=1e-15)
    assert bounds.high == pytest.approx(high, rel=1e-9)
