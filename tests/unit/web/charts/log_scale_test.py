import pytest

from offdiag_web.charts.scale import LogScale, log_scale_over


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
def test_an_axis_without_length_is_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="has no length"):
        LogScale(low, high)
