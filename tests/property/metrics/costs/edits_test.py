"""Changes to costs survive being written and read, whatever the classes are called."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.edits import CostEdits, cost_text, read_cost, read_edits, with_cells
from offdiag.metrics.costs.matrix import CostMatrix

NAMES = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
    min_size=2,
    max_size=4,
    unique=True,
)
COSTS = st.one_of(
    st.just(0.0),
    st.integers(-1000, 1000).map(float),
    st.floats(1e-15, 1e15),
    st.floats(-1e15, -1e-15),
)


@st.composite
def changed(draw: st.DrawFn) -> tuple[CostMatrix, CostMatrix]:
    labels = LabelSet.declared(draw(NAMES))
    size = len(labels)
    squares = st.lists(st.lists(COSTS, min_size=size, max_size=size), min_size=size, max_size=size)
    return (
        CostMatrix(np.array(draw(squares)), labels),
        CostMatrix(np.array(draw(squares)), labels),
    )


@settings(max_examples=100, deadline=None)
@given(changed())
def test_written_changes_lead_to_the_same_costs(pair: tuple[CostMatrix, CostMatrix]) -> None:
    before, after = pair

    cells = {cell: float(cost) for cell, cost in np.ndenumerate(after.weights)}
    text = with_cells(CostEdits(), before, cells).text(before.labels)
    read = read_edits(text, before)

    assert read.problems == ()
    assert np.array_equal(read.edits.applied(before).weights, after.weights)
    assert read.edits.text(before.labels) == text


@settings(max_examples=100, deadline=None)
@given(COSTS)
def test_a_written_cost_is_read_bit_for_bit(cost: float) -> None:
    assert read_cost(cost_text(cost)) == cost


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from('ab,>:|*"\\x1.5 \n'), max_size=30))
def test_any_text_is_read_without_an_error_and_reads_itself(text: str) -> None:
    costs = CostMatrix(np.array([[0.0, 1.0], [2.0, 0.0]]), LabelSet.declared(["a", "b"]))

    read = read_edits(text, costs)

    again = read_edits(read.edits.text(costs.labels), costs)
    assert again.edits == read.edits
    assert again.problems == ()
