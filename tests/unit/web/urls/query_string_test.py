import pytest

from offdiag_web.urls.query_string import whole_number


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("07", 7), ("20", 20)])
def test_digits_within_the_range_are_a_number(text: str, number: int) -> None:
    assert whole_number(text, least=1, most=20) == number


@pytest.mark.parametrize("text", ["", "0", "21", "-1", "1.0", " 1", "²", "٣", "1" * 5_000])
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text, least=1, most=20) is None
