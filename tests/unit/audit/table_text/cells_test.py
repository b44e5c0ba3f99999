"""Lines into cells, whatever separates them."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.cells import (
    LONGEST_LINE,
    NOTHING,
    line_of,
    plain_lines,
    read_value,
    run_together,
)
from support.optional import present


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("SVM\t0.93\t\t0.91", ("SVM", "0.93", "", "0.91")),
        ("SVM | 0.93 | 0.91", ("SVM", "0.93", "0.91")),
        ("SVM, 0.93, 0.91", ("SVM", "0.93", "0.91")),
        ('"a, b",0.93,0.91', ("a, b", "0.93", "0.91")),
        ("SVM 0,93 0,91", ("SVM", "0,93", "0,91")),
        ("SVM 0.93 ± 0.02 0.91 ± 0.01", ("SVM", "0.93 ± 0.02", "0.91 ± 0.01")),
        ("Recall 67.8 % (141/208)", ("Recall", "67.8 % (141/208)")),
        ("Class A (n = 80) 72 6 2", ("Class A (n = 80)", "72", "6", "2")),
        ("Accuracy: 9,780/10,000=97.8%", ("Accuracy:", "9,780/10,000=97.8%")),
        ("Accuracy = 172/239 ≈ 72.0%", ("Accuracy =", "172/239 ≈ 72.0%")),
        ("accuracy: 0.93, recall: 0.8", ("accuracy", "0.93", "recall", "0.8")),
        ("True - 200 9,700", ("True -", "200", "9,700")),
        ("ACC=0.93 SEN=0.90", ("ACC", "0.93", "SEN", "0.90")),
        ("141,67", ("141", "67")),
    ],
)
def test_cells_are_found_between_whatever_parts_them(line: str, cells: tuple[str, ...]) -> None:
    assert line_of(1, line).cells == cells


@pytest.mark.parametrize(
    ("text", "is_joined"),
    [
        ("0.5714290.4210530.388889", True),
        ("Macro F10.571015390.57101539", True),
        ("87.8%46.2%", True),
        ("version 1.2.3", False),
        ("of 10.11.2024", False),
        ("ResNet1.5", False),
    ],
)
def test_numbers_without_anything_between_them_are_noticed(text: str, is_joined: bool) -> None:
    assert run_together(text) == is_joined


def test_a_line_that_no_table_has_is_one_cell_of_prose() -> None:
    line = "a 0.5 " * LONGEST_LINE

    assert line_of(1, line).cells == (line,)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\r\nb\rc\u2028d", ["a", "b", "c", "d"]),
        ("0.5\N{NO-BREAK SPACE}%", ["0.5 %"]),
        ("F₁ 𝜆2", ["F1 λ2"]),
        ("\N{MINUS SIGN}0.5", ["-0.5"]),
        ("a\0b\u202ec\ufeff", ["a b c"]),
        ("|---|:-:|\n+----+", ["", ""]),
        ("• accuracy **0.9**", ["accuracy 0.9"]),
        ("Accuracy: 97.8%. Recall: 80%.", ["Accuracy: 97.8%", "Recall: 80%."]),
        (r"\frac{72}{82} \approx 87.8\%", ["(72)/(82) ≈ 87.8%"]),
        (r"$F_1$ & \textbf{0.9} \\", ["F_1 & 0.9", ""]),
        (r"\(F_{1,\text{macro}}\) \(0.5\)", ["  F_1_macro     0.5"]),
        (r"\begin{tabular}{lcc}", [""]),
        (r"\multicolumn{2}{c}{Val} & CNN~\cite{x} \cmidrule(lr){2-3}", ["Val & CNN"]),
        ("[[72  6  2]\n [8, 6, 1]]", ["72  6  2", "8, 6, 1"]),
        ("0.93 [0.91, 0.95]", ["0.93"]),
        ("0.93 (95% CI 0.91-0.95) 0.9", ["0.93  0.9"]),
        ("95% CI : (0.6834, 0.9611)", ["95% CI :"]),
        ("Recall 90% (68-99)", ["Recall 90%"]),
        ("age (18-25)", ["age (18-25)"]),
        (r"$93.1_{\pm 0.2}$", ["93.1 ± 0.2"]),
    ],
)
def test_mark_up_and_typography_give_way_to_plain_characters(text: str, lines: list[str]) -> None:
    assert plain_lines(text) == lines


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
        ("(141+31)/239", ("172/239",)),
        ("9,780/10,000=97.8%", ("9780/10000", "97.8%")),
        ("72/82 ≈ 87.8%", ("72/82", "87.8%")),
        ("0/(0 + 0) = Undefined", ("0/0", "undefined")),
        ("80%80/100 = 80%", ("80%",)),
        ("75.0% (15/20)", ("75.0%", "15/20")),
        ("NaN", ("undefined",)),
    ],
)
def test_a_number_keeps_the_form_it_was_printed_in(cell: str, numbers: tuple[str, ...]) -> None:
    value = present(read_value(cell))

    assert value.numbers == numbers
    assert not value.has_spread


@pytest.mark.parametrize(
    ("cell", "number"), [("0.93 ± 0.02", "0.93"), ("93.1 (0.2)", "93.1"), ("91.0% (0.3)", "91.0%")]
)
def test_a_deviation_is_no_form_of_the_number_and_says_that_it_is_a_mean(
    cell: str, number: str
) -> None:
    value = present(read_value(cell))

    assert value.numbers == (number,)
    assert value.has_spread


@pytest.mark.parametrize("cell", ["", "-", "–", "n/a", "N/A", "…"])
def test_a_cell_that_was_left_out_is_no_number_and_no_word(cell: str) -> None:
    assert read_value(cell) is NOTHING


@pytest.mark.parametrize(
    "cell",
    [
        "SVM",
        "macro avg",
        "<0.01",
        "1.2.3",
        "*",
        "Accuracy = 0.93",
        "0.5" * 60,
        "1/0",
        "1e5",
        "٣",
        "1" * 17,
    ],
)
def test_words_are_no_numbers(cell: str) -> None:
    assert read_value(cell) is None


@pytest.mark.parametrize(
    ("cell", "count"), [("80", 80), ("9,900", 9900), ("0.8", None), ("80%", None), ("-3", None)]
)
def test_cases_are_counted_in_whole_numbers(cell: str, count: int | None) -> None:
    value = present(read_value(cell))

    assert value.count == count
