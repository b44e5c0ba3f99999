from decimal import Decimal

import pytest

from offdiag_web.charts.scale import SIGNED_UNIT, UNIT, Extent, Scale, fitted


def test_the_fitted_axis_shows_all_intervals_between_tidy_ends() -> None:
    scale = fitted([Extent(0.81, 0.79, 0.83), Extent(0.86, 0.84, 0.88)], within=UNIT)

    assert scale.ends == ("0.78", "0.88")


def test_one_dummy_does_not_squeeze_all_others() -> None:
    runs = [Extent(value, value - 0.02, value + 0.02) for value in (0.80, 0.81, 0.82, 0.83, 0.84)]

    assert fitted([*runs, Extent(0.2)], within=UNIT) == fitted(runs, within=UNIT)


def test_equal_estimates_without_intervals_still_have_an_axis() -> None:
    scale = fitted([Extent(0.5), Extent(0.5)], within=UNIT)

    assert scale.ends == ("0.49", "0.51")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_axis_at_the_limit_stays_within_it(value: float) -> None:
    scale = fitted([Extent(value)], within=UNIT)

    assert 0 <= scale.low < scale.high <= 1


def test_without_anything_to_show_the_axis_is_the_full_range() -> None:
    assert fitted([], within=SIGNED_UNIT) == SIGNED_UNIT


def test_ends_are_printed_with_a_true_minus_sign() -> None:
    assert SIGNED_UNIT.ends == ("−1", "1")


def test_an_axis_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="no length"):
        Scale(Decimal(1), Decimal(1))
