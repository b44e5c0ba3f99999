import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from offdiag_web.charts.scale import spanning, tidy_at_least


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([390.0, 1084.0], ("300", "1100")),
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
