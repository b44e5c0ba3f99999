import pytest

from offdiag_web.components import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8644, "0.864"),
        (0.0, "0.000"),
        (1.0, "1.000"),
        (-0.25, "−0.250"),
        (0.0001, "<0.001"),
        (-0.0001, ">−0.001"),
        (0.9996, ">0.999"),
        (-0.99999, "<−0.999"),
        (1234.5, "1,234.500"),
        (3.2e16, "3.2e+16"),
    ],
)
def test_metrics_have_three_decimals_and_never_round_to_nothing_or_all(
    value: float, text: str
) -> None:
    assert numbers.metric(value) == text


@pytest.mark.parametrize(
    ("part", "of", "text"),
    [
        (0, 7, "0 %"),
        (5, 1006, "<1 %"),
        (59, 168, "35 %"),
        (1005, 1006, ">99 %"),
        (7, 7, "100 %"),
        (1, 100, "1 %"),
        (99, 100, "99 %"),
    ],
)
def test_shares_in_cells_are_whole_percentages(part: int, of: int, text: str) -> None:
    assert numbers.whole_percent(part, of).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("part", "of", "text"),
    [(1006, 1503, "66.9 %"), (1, 5000, "<0.1 %"), (4999, 5000, ">99.9 %"), (0, 5, "0.0 %")],
)
def test_shares_in_tables_have_one_decimal(part: int, of: int, text: str) -> None:
    assert numbers.fine_percent(part, of).replace("\u202f", " ") == text


def test_intervals_are_written_with_a_dash_between_both_ends() -> None:
    assert numbers.interval(0.846, 0.881) == "0.846 – 0.881"
    assert numbers.interval(-0.114, 0.105) == "−0.114 to 0.105"


def test_counts_have_thousands_separators() -> None:
    assert numbers.count(1234567) == "1,234,567"
    assert numbers.hits_of(987, 1006) == "987/1,006"


def test_one_thing_is_singular() -> None:
    assert numbers.plural(1, "run") == "1 run"
    assert numbers.plural(0, "run") == "0 runs"
    assert numbers.plural(2, "class", "classes") == "2 classes"


def test_long_lists_are_cut_but_never_to_hide_a_single_word() -> None:
    assert numbers.listed(["a"]) == "a"
    assert numbers.listed(["a", "b", "c"]) == "a, b and c"
    assert numbers.listed(list("abcdef")) == "a, b, c, d, e and f"
    assert numbers.listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_long_names_are_cut_in_the_middle() -> None:
    assert numbers.shortened("abcdefghij", longest=7) == "abc…hij"
    assert numbers.shortened("abcdefg", longest=7) == "abcdefg"
