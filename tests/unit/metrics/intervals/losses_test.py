"""Losses of single cases."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.losses import loss_intervals, squared_distances
from offdiag.metrics.scores import forecasts as forecasts_module
from offdiag.metrics.scores.losses import brier_scores
from support.forecasts import of_classes, of_event


def test_squared_distances_average_to_the_brier_score(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).dirichlet([1, 1, 1], size=20)
    forecasts = of_classes([0, 1, 2, 0] * 5, table.tolist())
    monkeypatch.setattr(forecasts_module, "CELLS_AT_ONCE", 12)

    found = squared_distances(forecasts)

    assert found.shape == (20,)
    assert found.mean() == pytest.approx(brier_scores(forecasts)["brier_sum"].value)


def test_half_the_brier_score_has_half_the_interval() -> None:
    found = loss_intervals(of_event([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), confidence=0.9)

    whole, half = found["brier_sum"], found["brier_half"]
    assert whole.low is not None
    assert whole.high is not None
    assert half.low == pytest.approx(whole.low / 2)
    assert half.high == pytest.approx(whole.high / 2)


def test_an_infinite_log_loss_has_no_interval_and_the_clipped_one_has() -> None:
    found = loss_intervals(of_event([0, 1, 1], [0.2, 0.0, 0.9]), confidence=0.95)

    assert "log_loss" not in found
    assert found["log_loss_clipped"].low is not None


@pytest.mark.parametrize(
    ("n_rare", "note"), [(6, "unreliable, smallest class has n = 6"), (20, None)]
)
def test_a_logarithmic_loss_with_few_cases_of_a_class_is_called_unreliable(
    n_rare: int, note: str | None
) -> None:
    rng = np.random.default_rng(1)
    actual = [1] * n_rare + [0] * 200

    found = loss_intervals(of_event(actual, rng.random(len(actual)).tolist()), confidence=0.95)

    assert found["log_loss"].low is not None
    assert found["log_loss"].note == found["log_loss_clipped"].note == note
    assert found["brier_half"].note is None
