"""Laws of intervals of scores, sets and weights, on small data with many ties."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.counts import weighted_matrix
from offdiag.metrics.weighted.intervals import weighted_suite_intervals
from support.matrices import numbered_labels

FEW = 40
"""Replicates: enough for laws that hold whatever was drawn."""


@st.composite
def forecasts(draw: st.DrawFn) -> Forecasts:
    """Up to 30 cases; of two classes one may have the only column, and be the positive one."""
    n_classes = draw(st.integers(1, 4))
    n_samples = draw(st.integers(1, 30))
    actual = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_samples, max_size=n_samples))
    if n_classes == 2 and draw(st.booleans()):
        column = draw(st.lists(st.integers(0, 8), min_size=n_samples, max_size=n_samples))
        scores = np.array(column).reshape(-1, 1) / 8
        return Forecasts(np.array(actual, np.uint8), scores, 2, positive=1)
    width = n_samples * n_classes
    table = np.array(draw(st.lists(st.integers(0, 4), min_size=width, max_size=width)), float)
    table = table.reshape(n_samples, n_classes) + 0.25
    if draw(st.booleans()):
        table /= table.sum(axis=1, keepdims=True)
    return Forecasts(np.array(actual, np.uint8), table, n_classes)


def require_lawful(
    found: Mapping[str, Interval], values: Mapping[str, MetricValue], scope: Scope
) -> None:
    """Ends in order and in range, none for undefined values, all of it plain JSON."""
    for key, interval in found.items():
        spec = CATALOGUE[scope][key]
        if values[key].value is None:
            assert (interval.low, interval.high) == (None, None), key
        if interval.low is not None and interval.high is not None:
            assert spec.low <= interval.low < interval.high <= spec.high, key
        json.dumps(interval.around(values[key]).to_dict(), allow_nan=False)


@given(forecasts())
@settings(max_examples=15)
def test_intervals_of_scores_are_lawful(given_forecasts: Forecasts) -> None:
    found = score_intervals(given_forecasts, seed=1)

    values = score_metrics(given_forecasts)
    assert found.keys() <= values.keys()
    require_lawful(found, values, Scope.PROBABILISTIC)
    by_class, of_class = class_score_intervals(given_forecasts), class_metrics(given_forecasts)
    for code in range(given_forecasts.n_classes):
        require_lawful(
            {key: each[code] for key, each in by_class.items()},
            {key: each[code] for key, each in of_class.items()},
            Scope.PROBABILISTIC,
        )


@given(forecasts(), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_the_order_of_the_cases_does_not_matter(
    given_forecasts: Forecasts, random: object
) -> None:
    order = np.arange(given_forecasts.n_samples)
    random.shuffle(order)  # type: ignore[attr-defined]  # A random.Random by another name.
    shuffled = Forecasts(
        given_forecasts.actual[order],
        given_forecasts.scores[order],
        given_forecasts.n_classes,
        given_forecasts.positive,
    )

    plain, other = (score_intervals(each, seed=1) for each in (given_forecasts, shuffled))

    assert plain.keys() == other.keys()
    for key, interval in plain.items():
        assert interval.note == other[key].note
        for end, same in ((interval.low, other[key].low), (interval.high, other[key].high)):
            assert (end is None) == (same is None), key
            assert end is None or end == pytest.approx(same, rel=1e-9, abs=1e-12), key


@st.composite
def label_sets(draw: st.DrawFn) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """True and predicted sets, (2, n, q)."""
    shape = (2, draw(st.integers(1, 20)), draw(st.integers(1, 4)))
    size = int(np.prod(shape))
    bits = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return np.array(bits).reshape(shape)


@given(label_sets())
@settings(max_examples=15)
def test_intervals_of_sets_are_lawful(
    sets: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> None:
    found = multilabel_intervals(sets[0], sets[1])

    for scope, intervals in (
        (Scope.MULTILABEL, list(found.aggregate.items())),
        (Scope.PER_LABEL, [(key, each) for key, many in found.per_label.items() for each in many]),
    ):
        for key, interval in intervals:
            spec = CATALOGUE[scope][key]
            if interval.low is not None and interval.high is not None:
                assert spec.low <= interval.low < interval.high <= spec.high, key


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 8)), min_size=1, max_size=25
    )
)
@settings(max_examples=15)
def test_intervals_of_weights_are_lawful(cases: list[tuple[int, int, int]]) -> None:
    actual, predicted, eighths = (np.array(part) for part in zip(*cases, strict=True))
    matrix = weighted_matrix(
        actual.astype(np.uint8), predicted.astype(np.uint8), eighths / 8, labels=numbered_labels(3)
    )

    counted = matrix.counted
    suite = evaluate_stack(counted.sums, ordinal=True, names=counted.labels.names)
    found = weighted_suite_intervals(counted, suite, seed=1)

    for key, each in found.aggregate.items():
        low, high = each.bounds.at()
        spec = CATALOGUE[Scope.AGGREGATE][key]
        if low is not None and high is not None:
            assert spec.low - 1e-9 <= low < high <= spec.high + 1e-9, key
