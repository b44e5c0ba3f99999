"""What is counted a class at a time differs from the exact values by no more than its bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics.intervals.score_cells import class_cell_values
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_cells import ClassCells, ScoreCells, count_scores
from offdiag.services.evaluation.compute import of_scores

_ROUNDING = 1e-6
"""Rows of single precision add up to 1 as nearly."""
_ODDS = st.one_of(st.sampled_from([0, 1, 1, 2, 4]), st.floats(0.001, 1000))
SAMPLES = st.lists(
    st.tuples(st.integers(0, 2), st.tuples(_ODDS, _ODDS, _ODDS).filter(any)), min_size=2
)


def counted(happened: NDArray[np.bool_], p: NDArray[np.float32]) -> ScoreCells:
    half = len(p) // 2
    cells = count_scores([(happened[:half], p[:half]), (happened[half:], p[half:])])
    assert cells is not None
    return cells


@given(SAMPLES)
def test_every_value_keeps_its_bound(
    samples: list[tuple[int, tuple[float, float, float]]],
) -> None:
    actual = np.array([code for code, _ in samples])
    odds = np.array([each for _, each in samples])
    scores = (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)
    top = counted(scores.argmax(axis=1) == actual, scores.max(axis=1))
    each = tuple(counted(actual == code, scores[:, code]) for code in range(3))

    found = class_cell_values(ClassCells(each, top))
    exact = of_scores(Forecasts(actual, scores, 3))

    assert found.aggregate.keys() == exact.aggregate.keys()
    for key, value in exact.aggregate.items():
        near = found.aggregate[key]
        if near.reason == "forecasts_in_cells":
            assert key.startswith(("roc_auc_ovo", "top_2", "brier_re")), key
            continue
        assert (near.reason, near.limit) == (value.reason, value.limit), key
        if value.value is not None:
            assert abs(float(near) - value.value) <= (near.error_bound or 0) + _ROUNDING, key
    for key, values in exact.per_class.items():
        for near, value in zip(found.per_class[key], values, strict=True):
            assert near.reason == value.reason
            if value.value is not None:
                assert abs(float(near) - value.value) <= (near.error_bound or 0) + _ROUNDING
