"""What is computed from the scores of a run."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.services.evaluation.compute import INTERVAL_SEED, of_scores

RNG = np.random.default_rng(5)
P = RNG.beta(1, 2, 200)
FORECASTS = Forecasts(
    (RNG.random(200) < P).astype(np.uint8), P.astype(np.float32).reshape(-1, 1), 2, positive=1
)


def test_metrics_of_scores_carry_their_intervals() -> None:
    values, intervals = (score_metrics(FORECASTS), score_intervals(FORECASTS, seed=INTERVAL_SEED))

    found = of_scores(FORECASTS).aggregate

    assert found.keys() == values.keys()
    for key, value in found.items():
        assert value.value == values[key].value
        if key in intervals:
            assert (value.ci_low, value.ci_high) == (intervals[key].low, intervals[key].high)
            assert value.ci_method == intervals[key].provenance
        else:
            assert value.ci_method is None


def test_areas_of_the_classes_carry_their_intervals() -> None:
    values, intervals = class_metrics(FORECASTS), class_score_intervals(FORECASTS)

    found = of_scores(FORECASTS).per_class

    for key in values:
        assert [each.value for each in found[key]] == [each.value for each in values[key]]
        assert [each.ci_low for each in found[key]] == [each.low for each in intervals[key]]


def test_without_cases_nothing_has_an_interval() -> None:
    nothing = Forecasts(np.zeros(0, np.uint8), np.zeros((0, 1), np.float32), 2, positive=1)

    found = of_scores(nothing)

    assert found.aggregate.keys() == of_scores(FORECASTS).aggregate.keys()
    assert {value.ci_method for value in found.aggregate.values()} == {None}
