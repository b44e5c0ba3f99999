"""Logarithmic loss, infinite or not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from offdiag.domain.values import POSITIVE_INFINITY, Reason
from offdiag.metrics.scores import losses
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.losses import brier_decomposition, loss_metrics
from support.forecasts import of_classes, of_event


def test_a_true_class_with_probability_zero_makes_it_infinite() -> None:
    value = loss_metrics(of_event([1, 0, 0], [0.0, 0.1, 0.1]))["log_loss"]

    assert value.value is None
    assert value.reason == Reason.TRUE_CLASS_GOT_ZERO
    assert value.limit == POSITIVE_INFINITY


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_clipped_loss_is_finite_and_the_same_for_every_type(kind: type) -> None:
    scores = Forecasts(
        np.array([1, 0]), np.array([[0.0], [0.5]], dtype=kind), n_classes=2, positive=1
    )

    expected = -(math.log(1e-15) + math.log(0.5)) / 2
    assert loss_metrics(scores)["log_loss_clipped"].value == pytest.approx(expected, rel=1e-15)


def test_a_certain_and_right_forecast_loses_nothing() -> None:
    perfect = of_event([1, 0], [1.0, 0.0])

    assert str(loss_metrics(perfect)["log_loss"].value) == "0.0"
    assert loss_metrics(perfect)["log_loss_clipped"].value == pytest.approx(1e-15, rel=0.2)


EIGHTHS = [[4, 2, 2], [4, 2, 2], [1, 7, 0], [1, 7, 0], [0, 0, 8], [2, 3, 3]]
ACTUAL = [0, 2, 1, 1, 2, 0]


def eighths() -> Forecasts:
    return of_classes(ACTUAL, [[cell / 8 for cell in row] for row in EIGHTHS])


def exact_parts() -> tuple[Fraction, Fraction, Fraction]:
    """Murphy's parts of the example in fractions: reliability, resolution, uncertainty."""
    share = [Fraction(ACTUAL.count(code), 6) for code in range(3)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for row, code in zip(EIGHTHS, ACTUAL, strict=True):
        groups.setdefault(tuple(row), []).append(code)
    reliability = resolution = Fraction(0)
    for forecast, codes in groups.items():
        for code in range(3):
            observed = Fraction(codes.count(code), len(codes))
            reliability += len(codes) * (Fraction(forecast[code], 8) - observed) ** 2
            resolution += len(codes) * (observed - share[code]) ** 2
    uncertainty = sum((part * (1 - part) for part in share), Fraction(0))
    return reliability / 6, resolution / 6, uncertainty


def test_the_parts_are_those_of_murphy() -> None:
    values = brier_decomposition(eighths())

    assert [value.value for value in values.values()] == pytest.approx(
        [float(part) for part in exact_parts()], rel=1e-15
    )


def test_a_calibrated_forecast_has_no_reliability_term() -> None:
    values = brier_decomposition(of_classes([0, 1, 0, 1], [[0.5, 0.5]] * 4))

    assert values["brier_reliability"].value == 0
    assert values["brier_resolution"].value == 0
    assert values["brier_uncertainty"].value == 0.5


def test_one_column_and_both_columns_have_the_same_parts() -> None:
    actual = [1, 0, 1, 1, 0, 0]
    scores = [0.75, 0.75, 0.75, 0.25, 0.25, 0.0]

    of_one = brier_decomposition(of_event(actual, scores))
    of_both = brier_decomposition(of_classes(actual, [[1 - p, p] for p in scores]))

    for key, value in of_one.items():
        assert value.value == pytest.approx(of_both[key].value, rel=1e-15)


def test_negative_zero_is_the_forecast_zero() -> None:
    plain = brier_decomposition(of_classes([0, 1], [[0.0, 1.0], [0.0, 1.0]]))
    signed = brier_decomposition(of_classes([0, 1], [[-0.0, 1.0], [0.0, 1.0]]))

    assert signed == plain


def test_blocks_do_not_change_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    table = generator.multinomial(4, [0.25] * 4, 60) / 4
    scores = Forecasts(generator.integers(0, 4, 60), table, n_classes=4)

    at_once = brier_decomposition(scores)
    monkeypatch.setattr(losses, "CELLS_AT_ONCE", 8)
    in_blocks = brier_decomposition(scores)

    for key, value in at_once.items():
        assert in_blocks[key].value == pytest.approx(value.value, rel=1e-14)
