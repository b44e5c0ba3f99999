"""The choice along a lever against the cheapest run at many places, found by trying."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.break_even import (
    HIGHEST,
    LOWEST,
    Lever,
    choices,
    lever_on_cell,
    lever_on_class,
    rays_of,
    times_the_cheapest,
)
from offdiag.metrics.costs.matrix import CostMatrix
from support.matrices import numbered_labels

PRICES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 7.5, 20.0, -1.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[ConfusionMatrix], CostMatrix, Lever]:
    size = draw(st.integers(2, 4))
    labels = numbered_labels(size)
    square = st.lists(
        st.lists(st.integers(0, 60), min_size=size, max_size=size), min_size=size, max_size=size
    ).filter(lambda rows: sum(map(sum, rows)) > 0)
    runs = [
        ConfusionMatrix(np.array(draw(square)), labels) for _ in range(draw(st.integers(1, 5)))
    ]
    prices = [[draw(PRICES) for _ in range(size)] for _ in range(size)]
    costs = CostMatrix(np.array(prices), labels)
    actual = draw(st.integers(0, size - 1))
    predicted = draw(st.integers(0, size - 1))
    return runs, costs, lever_on_cell(costs, actual, predicted) or lever_on_class(actual)


def exact_mean(matrix: ConfusionMatrix, costs: CostMatrix, lever: Lever, x: Fraction) -> Fraction:
    """The definition, cell by cell, in rational numbers."""
    total = Fraction(0)
    for (actual, predicted), count in np.ndenumerate(matrix.counts):
        price = Fraction(float(costs.weights[actual, predicted]))
        if actual == lever.actual and predicted != actual:
            if lever.predicted is None:
                price *= x
            elif predicted == lever.predicted:
                price = x * Fraction(lever.unit)
        total += price * int(count)
    return total / matrix.total


@settings(max_examples=60, deadline=None)
@given(cases())
def test_no_other_run_is_cheaper_anywhere_in_a_stretch(
    case: tuple[list[ConfusionMatrix], CostMatrix, Lever],
) -> None:
    runs, costs, lever = case

    stretches = choices(rays_of(runs, costs, lever))

    assert (stretches[0].low, stretches[-1].high) == (LOWEST, HIGHEST)
    for stretch in stretches:
        low, high = Fraction(stretch.low), Fraction(stretch.high)
        for part in (Fraction(1, 97), Fraction(1, 2), Fraction(89, 97)):
            x = low + (high - low) * part
            means = [exact_mean(run, costs, lever, x) for run in runs]
            assert stretch.cheapest == tuple(
                place for place, mean in enumerate(means) if mean == min(means)
            )


@settings(max_examples=40, deadline=None)
@given(cases())
def test_a_multiple_of_the_cheapest_is_never_below_one(
    case: tuple[list[ConfusionMatrix], CostMatrix, Lever],
) -> None:
    runs, costs, lever = case

    found = times_the_cheapest(rays_of(runs, costs, lever), np.geomspace(0.01, 1e3, 40))

    defined = ~np.isnan(found)
    assert (found[defined] >= 1).all()
    assert (defined.all(axis=0) | ~defined.any(axis=0)).all()
