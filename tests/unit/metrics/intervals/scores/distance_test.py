"""The bound of the distance between two score distributions."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.scores.distance import ks_bound, ks_interval
from offdiag.metrics.probabilistic.discrimination import ks
from offdiag.metrics.probabilistic.ranked import RankedScores


def separated(n_positive: int, n_negative: int) -> RankedScores:
    return RankedScores(np.linspace(0.3, 1, n_positive), np.linspace(0, 0.7, n_negative))


def test_the_bound_has_the_tabled_factor_at_95_percent() -> None:
    assert ks_bound(50, 200, confidence=0.95) == pytest.approx(1.358 * (1 / 40) ** 0.5, rel=1e-4)


def test_the_interval_lies_around_the_value_and_says_what_chance_shows() -> None:
    ranked = separated(50, 200)
    value = ks(ranked).value
    assert value is not None

    found = ks_interval(ranked, confidence=0.95)

    assert found.low == pytest.approx(value - 0.2147, abs=1e-4)
    assert found.high == pytest.approx(value + 0.2147, abs=1e-4)
    assert found.note == "a useless score would show up to 0.215 on these examples"


@pytest.mark.parametrize(
    ("n_positive", "low", "note"),
    [
        (0, None, "unreliable, smaller class has n = 0"),
        (4, None, "unreliable, smaller class has n = 4; a useless score would show up to 0.686"),
        (5, 0.0, "unreliable, smaller class has n = 5; a useless score would show up to 0.615"),
    ],
)
def test_few_cases_of_a_class_leave_no_ends_or_the_whole_range(
    n_positive: int, low: float | None, note: str
) -> None:
    found = ks_interval(separated(n_positive, 200), confidence=0.95)

    assert found.low == low
    assert (found.note or "").startswith(note)
