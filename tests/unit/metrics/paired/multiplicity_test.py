"""Holm and Benjamini-Hochberg adjustments."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.multiplicity import benjamini_hochberg, holm


def test_holm_multiplies_by_the_comparisons_that_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_divides_by_the_rank() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_single_comparison_needs_no_adjustment(adjust: Any) -> None:
    assert adjust([0.3]).tolist() == [0.3]
    assert adjust([]).tolist() == []


def test_adjusted_values_end_at_one() -> None:
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("p", [[0.5, 1.01], [-0.1], [float("nan")], [[0.1, 0.2]], [None]])
def test_what_is_no_list_of_p_values_is_refused(adjust: Any, p: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        adjust(p)

    assert caught.value.field == "p"
