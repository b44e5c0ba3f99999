"""Logarithmic loss, infinite or not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offdiag.domain.values import POSITIVE_INFINITY, Reason
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.metrics.probabilistic.log_loss import log_loss, log_loss_clipped
from support.forecasts import of_classes, of_event


def test_it_is_the_mean_surprise_in_nats() -> None:
    scores = of_classes([0, 2], [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])

    assert log_loss(scores).value == pytest.approx((math.log(2) + math.log(4)) / 2, rel=1e-15)


def test_one_column_stands_for_two_classes() -> None:
    assert log_loss(of_event([1, 0], [0.8, 0.4])).value == pytest.approx(
        -(math.log(0.8) + math.log(0.6)) / 2, rel=1e-15
    )


def test_a_true_class_with_probability_zero_makes_it_infinite() -> None:
    value = log_loss(of_event([1, 0, 0], [0.0, 0.1, 0.1]))

    assert value.value is None
    assert value.reason == Reason.TRUE_CLASS_GOT_ZERO
    assert value.limit == POSITIVE_INFINITY


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_clipped_loss_is_finite_and_the_same_for_every_type(kind: type) -> None:
    scores = Forecasts(
        np.array([1, 0]), np.array([[0.0], [0.5]], dtype=kind), n_classes=2, positive=1
    )

    expected = -(math.log(1e-15) + math.log(0.5)) / 2
    assert log_loss_clipped(scores).value == pytest.approx(expected, rel=1e-15)


def test_a_certain_and_right_forecast_loses_nothing() -> None:
    perfect = of_event([1, 0], [1.0, 0.0])

    assert str(log_loss(perfect).value) == "0.0"
    assert log_loss_clipped(perfect).value == pytest.approx(1e-15, rel=0.2)
