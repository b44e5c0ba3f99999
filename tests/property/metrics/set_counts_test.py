"""Counts of sets are sums: of any chunks, in any order, to the last bit."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.counted import CountedSets, added_up, are_equal, count_sets
from offdiag.metrics.multilabel.sets import nothing_known, pack_sets, with_room
from offdiag.metrics.multilabel.suite import set_metrics
from offdiag.metrics.multilabel.tally import SetTally, tally_sets
from offdiag.store.codec import decode_sample_counts, encode_sample_counts


@st.composite
def pairs(draw: st.DrawFn) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True and predicted indicators of one shape."""
    n_samples, n_labels = draw(st.integers(1, 30)), draw(st.integers(1, 9))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    true, predicted = rng.random((2, n_samples, n_labels)) < share
    return true, predicted


def digest(tally: SetTally) -> str:
    n_labels = tally.n_labels
    return CountedSets(tally, LabelSet.numbered(n_labels)).digest


@settings(max_examples=30)
@given(pairs(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_sum_of_chunks_in_any_order_is_the_whole(
    pair: tuple[NDArray[np.bool_], NDArray[np.bool_]], n_chunks: int, random: Random
) -> None:
    true, predicted = pair
    order = np.random.default_rng(len(true)).permutation(len(true))
    parts = [tally_sets(true[part], predicted[part]) for part in np.array_split(order, n_chunks)]
    random.shuffle(parts)

    added = added_up(parts, n_classes=true.shape[1], of_sets=True)

    whole = tally_sets(true, predicted)
    assert isinstance(added, SetTally)
    assert digest(added) == digest(whole)
    assert set_metrics(added) == set_metrics(whole)


@settings(max_examples=30)
@given(pairs())
def test_counts_survive_being_stored(pair: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> None:
    tally = tally_sets(*pair)

    assert are_equal(decode_sample_counts(encode_sample_counts(tally), tally.n_labels), tally)


@settings(max_examples=30)
@given(pairs(), st.integers(0, 2**32 - 1))
def test_unknown_sets_change_nothing(
    pair: tuple[NDArray[np.bool_], NDArray[np.bool_]], seed: int
) -> None:
    true, predicted = pair
    n_labels = true.shape[1]
    known = np.random.default_rng(seed).random(len(true)) < 0.7
    actual = np.where(
        known[:, np.newaxis],
        with_room(pack_sets(true), n_labels),
        nothing_known(len(true), n_labels),
    )

    counted = count_sets(actual, pack_sets(predicted), n_labels=n_labels)

    assert are_equal(counted, tally_sets(true[known], predicted[known]))
