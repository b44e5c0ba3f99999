"""Sorting by keys and reading in blocks, against sorting and counting all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics.scores import forecasts as forecasts_module
from offdiag.metrics.scores import ranking
from offdiag.metrics.scores.forecasts import equal_rows
from offdiag.metrics.scores.operating_points import drawn_points, operating_points, reduced
from offdiag.metrics.scores.ranking import ascending_order, rank_scores

SCORES = st.one_of(
    st.lists(st.sampled_from([-0.0, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60),
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60),
    st.lists(st.floats(-(2.0**90), 2.0**90, width=32), min_size=1, max_size=60),
)


@pytest.fixture(autouse=True, scope="module")
def short_blocks() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "SAMPLES_PER_BLOCK", 7)
        patch.setattr(forecasts_module, "CELLS_AT_ONCE", 9)
        yield


def outcomes(n_samples: int, seed: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(n_samples) < 0.4


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(SCORES, st.integers(0, 5))
def test_ranked_scores_are_the_sorted_samples(
    kind: type, given_scores: list[float], seed: int
) -> None:
    scores: NDArray[Any] = np.array(given_scores, dtype=kind)
    is_positive = outcomes(len(scores), seed)

    found = rank_scores(is_positive, scores)

    assert found.ascending.dtype == kind
    assert found.ascending.tolist() == sorted(scores.tolist())
    pairs = zip(found.ascending.tolist(), found.is_positive.tolist(), strict=True)
    assert sorted(pairs) == sorted(zip((scores + 0).tolist(), is_positive.tolist(), strict=True))
    assert scores[ascending_order(scores)].tolist() == np.sort(scores).tolist()


@given(SCORES, st.integers(0, 5))
def test_blocks_hold_every_distinct_score_once(given_scores: list[float], seed: int) -> None:
    scores = np.array(given_scores)
    is_positive = outcomes(len(scores), seed)
    ranked = rank_scores(is_positive, scores)

    blocks = list(ranked.blocks())

    values = np.concatenate([block.values for block in blocks])
    assert values.tolist() == np.unique(scores + 0).tolist()
    for block in blocks:
        for place, value in enumerate(block.values):
            assert block.positive[place] == (scores[is_positive] == value).sum()
            assert block.negative[place] == (scores[~is_positive] == value).sum()
            assert block.positives_below[place] == (scores[is_positive] < value).sum()
            assert block.negatives_below[place] == (scores[~is_positive] < value).sum()


@given(SCORES, st.integers(0, 5), st.integers(1, 12))
def test_drawn_points_are_those_that_all_points_are_reduced_to(
    given_scores: list[float], seed: int, cells: int
) -> None:
    scores = np.array(given_scores)
    ranked = rank_scores(outcomes(len(scores), seed), scores)
    exact = operating_points(ranked)
    kept = [exact.at(0.25)]
    if exact.n_positive:
        kept.append(int(np.argmax(2 * exact.true_positives / (exact.reported + exact.n_positive))))
        if exact.n_negative:
            kept.append(int(np.argmax(exact.recall - exact.false_positive_rate)))
    middle = len(exact) // 2
    answers = int(exact.true_positives[middle]), int(exact.reported[middle])

    expected = reduced(exact, cells=cells, kept=[*kept, middle])
    found = drawn_points(ranked, cells=cells, in_use=answers, thresholds=(0.25,))

    assert found.thresholds.tolist() == expected.thresholds.tolist()
    assert found.true_positives.tolist() == expected.true_positives.tolist()
    assert found.false_positives.tolist() == expected.false_positives.tolist()
    assert found.n_thresholds == expected.n_thresholds == len(exact)


@pytest.mark.parametrize("multiplier", [forecasts_module._MULTIPLIER, np.uint64(0)])
@given(st.lists(st.sampled_from([(0.0, 1.0), (-0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]), min_size=1))
def test_equal_rows_are_found_even_where_hashes_collide(
    multiplier: np.uint64, rows: list[tuple[float, float]]
) -> None:
    table = np.array(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forecasts_module, "_MULTIPLIER", multiplier)
        found = equal_rows(table)

    groups = np.split(found.order, found.starts[1:])
    distinct = np.unique(table + 0, axis=0)
    assert len(groups) == len(distinct)
    for group in groups:
        assert (table[group] == table[group[0]]).all()
        assert group.tolist() == sorted(group.tolist())
