import math
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from offdiag_web.charts.svg import (
    SIGNED_UNIT,
    UNIT,
    Extent,
    LogScale,
    Scale,
    fitted,
    log_scale_over,
    spanning,
    tidy_at_least,
)


def test_the_fitted_axis_shows_all_intervals_between_tidy_ends() -> None:
    scale = fitted([Extent(0.81, 0.79, 0.83), Extent(0.86, 0.84, 0.88)], within=UNIT)

    assert scale.ends == ("0.78", "0.88")


def test_one_dummy_does_not_squeeze_all_others() -> None:
    runs = [Extent(value, value - 0.02, value + 0.02) for value in (0.80, 0.81, 0.82, 0.83, 0.84)]

    assert fitted([*runs, Extent(0.2)], within=UNIT) == fitted(runs, within=UNIT)


def test_equal_estimates_without_intervals_still_have_an_axis() -> None:
    scale = fitted([Extent(0.5), Extent(0.5)], within=UNIT)

    assert scale.ends == ("0.49", "0.51")


def test_without_anything_to_show_the_axis_is_the_full_range() -> None:
    assert fitted([], within=SIGNED_UNIT) == SIGNED_UNIT


def test_ends_are_printed_with_a_true_minus_sign() -> None:
    assert SIGNED_UNIT.ends == ("−1", "1")


def test_an_axis_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="no length"):
        Scale(Decimal(1), Decimal(1))


@pytest.mark.parametrize(
    ("counts", "ends"),
    [
        ([17, 1006], (10, 2_000)),
        ([10, 100], (10, 100)),
        ([1], (1, 2)),
        ([50], (50, 100)),
        ([3, 3, 3], (2, 5)),
        ([1, 10**9], (1, 10**9)),
        ([], (1, 10)),
    ],
)
def test_an_axis_ends_at_round_numbers_around_all_counts(
    counts: list[int], ends: tuple[int, int]
) -> None:
    scale = log_scale_over(counts)

    assert (scale.low, scale.high) == ends


def test_equal_ratios_are_equal_distances() -> None:
    scale = LogScale(1, 1_000)

    assert [scale.fraction(value) for value in (1, 10, 100, 1_000)] == pytest.approx(
        [0, 1 / 3, 2 / 3, 1]
    )


def test_ticks_are_powers_of_ten_and_more_where_these_are_few() -> None:
    assert LogScale(10, 2_000).ticks == (10, 100, 1_000)
    assert LogScale(20, 100).ticks == (20, 50, 100)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (10, 10), (20, 10)])
def test_a_logarithmic_axis_without_length_is_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="has no length"):
        LogScale(low, high)


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([390.0, 1084.0], ("300", "1,100")),
        ([0.012, 0.019], ("0.012", "0.019")),
        ([-3.0, 5.0], ("−3", "5")),
        ([7.0], ("3", "11")),
        ([], ("0", "1")),
    ],
)
def test_an_axis_begins_and_ends_at_tidy_numbers(
    values: list[float], ends: tuple[str, str]
) -> None:
    assert spanning(values).ends == ends


@example([5e-324])
@example([0.0, 5e-324])
@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=6))
def test_every_value_lies_on_the_axis(values: list[float]) -> None:
    scale = spanning(values)

    for value in values:
        assert -1e-9 <= scale.fraction(value) <= 1 + 1e-9


@given(st.floats(1e-12, 1e12))
def test_a_tidy_number_is_at_least_the_rough_one_and_no_more_than_two_and_a_half_times(
    rough: float,
) -> None:
    tidy = float(tidy_at_least(rough))

    assert rough <= tidy * (1 + 1e-12)
    assert tidy <= 2.5 * rough * (1 + 1e-9)
    assert round(tidy / 10 ** math.floor(math.log10(tidy) + 1e-9), 9) in {1, 2, 5}
