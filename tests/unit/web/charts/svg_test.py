import pytest

from offdiag_web.charts.svg import coordinate


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.5, "0.5"), (2.006, "2.01"), (-0.001, "0"), (100.0, "100")]
)
def test_coordinates_are_as_short_as_they_get(value: float, text: str) -> None:
    assert coordinate(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_a_browser_would_drop_in_silence_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a coordinate"):
        coordinate(value)
