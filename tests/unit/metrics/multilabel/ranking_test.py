"""Ranking metrics: how far down the relevant labels stand."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.multilabel import ranking
from offdiag.metrics.multilabel.ranking import rank_samples, ranking_metrics, sum_over_rankings
from support.krstinic import indicator


def metrics(actual: list[str], scores: list[list[float]]) -> tuple[float | None, ...]:
    """Coverage, loss and average precision."""
    values = ranking_metrics(sum_over_rankings(indicator(actual), np.array(scores)))
    return tuple(value.value for value in values.values())


@pytest.mark.parametrize(("actual", "coverage"), [("000", 0.0), ("111", 3.0)])
def test_labels_that_are_all_alike_cannot_be_ordered_wrongly(actual: str, coverage: float) -> None:
    assert metrics([actual], [[0.1, 0.5, 0.9]]) == (coverage, 0.0, 1.0)


def test_one_label_alone_is_always_in_order() -> None:
    assert metrics(["1", "0"], [[0.2], [0.9]]) == (0.5, 0.0, 1.0)


def test_without_cases_everything_is_undefined() -> None:
    sums = sum_over_rankings(np.zeros((0, 2), np.bool_), np.zeros((0, 2)))

    assert {value.reason for value in ranking_metrics(sums).values()} == {Reason.NO_SAMPLES}


def test_the_measures_of_the_cases_average_to_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    actual = rng.random((50, 4)) < 0.4
    scores = np.round(rng.random((50, 4)), 1)
    metrics = ranking_metrics(sum_over_rankings(actual, scores))
    monkeypatch.setattr(ranking, "CELLS_AT_ONCE", 28)

    found = rank_samples(actual, scores)

    assert found.coverage.mean() == pytest.approx(metrics["coverage_error"].value)
    assert found.loss.mean() == pytest.approx(metrics["label_ranking_loss"].value)
    assert found.average_precision.mean() == pytest.approx(
        metrics["label_ranking_average_precision"].value
    )
