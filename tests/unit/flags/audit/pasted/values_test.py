"""Cells with numbers in them, in the forms that papers use."""

from __future__ import annotations

import pytest

from offdiag.flags.audit.pasted.values import NOTHING, read_value


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("0.571", ("0.571",)),
        (" .571 ", (".571",)),
        ("57.1%", ("57.1%",)),
        ("57.1 %", ("57.1 %",)),
        ("0,571", ("0.571",)),
        ("-0.47", ("-0.47",)),
        ("**0.93**", ("0.93",)),
        ("0.93†", ("0.93",)),
        ("72/82", ("72/82",)),
        ("(141+31)/239", ("172/239",)),
        ("9,780/10,000=97.8%", ("9780/10000", "97.8%")),
        ("72/82 ≈ 87.8%", ("72/82", "87.8%")),
        ("0/(0 + 0) = Undefined", ("0/0", "undefined")),
        ("80%80/100 = 80%", ("80%",)),
        ("75.0% (15/20)", ("75.0%", "15/20")),
        ("0.93 [0.91, 0.95]", ("0.93",)),
        ("0.93 (0.91 to 0.95)", ("0.93",)),
        ("NaN", ("undefined",)),
    ],
)
def test_a_number_keeps_the_form_it_was_printed_in(cell: str, numbers: tuple[str, ...]) -> None:
    value = read_value(cell)

    assert value is not None
    assert value.numbers == numbers
    assert not value.has_spread


@pytest.mark.parametrize(
    "cell", ["0.93 ± 0.02", "0.93 +/- 0.02".replace("+/-", "±"), "93.1 (0.2)"]
)
def test_a_deviation_says_that_it_is_a_mean(cell: str) -> None:
    value = read_value(cell)

    assert value is not None
    assert value.has_spread


@pytest.mark.parametrize("cell", ["", "-", "–", "n/a", "N/A", "…"])
def test_a_cell_that_was_left_out_is_no_number_and_no_word(cell: str) -> None:
    assert read_value(cell) is NOTHING


@pytest.mark.parametrize(
    "cell",
    ["SVM", "macro avg", "<0.01", "1.2.3", "*", "Accuracy = 0.93", "0.5" * 60, "1/0", "1e5", "٣"],
)
def test_words_are_no_numbers(cell: str) -> None:
    assert read_value(cell) is None


@pytest.mark.parametrize(
    ("cell", "count"),
    [("80", 80), ("9,900", 9900), ("0.8", None), ("80%", None), ("-3", None), ("1" * 17, None)],
)
def test_cases_are_counted_in_whole_numbers(cell: str, count: int | None) -> None:
    value = read_value(cell)

    assert value is not None
    assert value.count == count
