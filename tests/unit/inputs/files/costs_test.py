"""Costs out of pasted text."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.files.costs import WeightsFile, read_cost_table, read_weights
from offdiag.metrics.costs.matrix import cost_matrix

LABELS = LabelSet.declared(["nv", "mel", "b k l"])
EXPECTED = [[0, 1, 1], [20, 0, 8], [2, 4, 0]]


def weights(text: str, labels: LabelSet = LABELS) -> list[list[float]]:
    return cost_matrix(read_cost_table(text, labels), labels=labels).weights.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "text",
    [
        "0\t1\t1\n20\t0\t8\n2\t4\t0",
        "0\t1\t1\r\n20\t0\t8\r\n2\t4\t0\r\n",
        "0,1,1\n20,0,8\n2,4,0\n",
        "0; 1; 1\n20; 0; 8\n2; 4; 0",
        "0 1 1\n20  0 8\n\n2 4 0",
        "\ufeff\tnv\tmel\tb k l\nnv\t0\t1\t1\nmel\t20\t0\t8\nb k l\t2\t4\t0",
        "true \\ pred\tnv\tmel\tb k l\nnv\t0\t1\t1\nmel\t20\t0\t8\nb k l\t2\t4\t0",
        'x,mel,"b k l",nv\nb k l,4,0,2\nnv,1,1,0\nmel,0,8,20\n',
    ],
    ids=["tabs", "windows", "commas", "semicolons", "blanks", "names", "corner", "other order"],
)
def test_a_table_is_read_whatever_parts_its_fields(text: str) -> None:
    assert weights(text) == EXPECTED


def test_arrows_in_the_corner_say_what_goes_down() -> None:
    text = "predicted → actual ↓\tnv\tmel\tb k l\nnv\t0\t1\t1\nmel\t20\t0\t8\nb k l\t2\t4\t0"

    assert weights(text) == weights(text.replace("predicted → actual ↓", "actual ↓ predicted →"))
    with pytest.raises(InvalidInput, match="seem to be predicted classes"):
        weights(text.replace("predicted → actual ↓", "actual → predicted ↓"))


def test_names_that_are_numbers_are_told_from_costs_by_the_shape() -> None:
    labels = LabelSet.declared(["0", "1"])

    assert weights("\t1\t0\n1\t0\t9\n0\t3\t0", labels) == [[0, 3], [9, 0]]
    assert weights("0\t3\n9\t0", labels) == [[0, 3], [9, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is nothing in it"),
        (" \n\n", "there is nothing in it"),
        ("0\t1\n20\t0", "2 lines of 2 costs for 3 classes"),
        ("0\t1\t1\n20\t0\n2\t4\t0", "line 2 has 2 fields, the first line 3"),
        ("0\t1\t1\n20\t0\tmuch\n2\t4\t0", "'much' in line 2 is not a cost"),
        ("0\t1\t1\n20\t0\t0,5\n2\t4\t0", "'0,5' in line 2 is not a cost"),
        ("0\t1\t1\n20.000\t0\t8.500\n2\t4\t0", "20.000 may be 20 or 20000"),
        ("\tnv\nnv\t-1.500", "-1.500 may be -1.5 or -1500"),
        ("0\t1\t1\n20\t0\tnan\n2\t4\t0", "'nan' in line 2 is not a cost"),
        (
            "\tnv\tnv\tmel\nnv\t0\t1\t1\nmel\t1\t1\t1\nx\t1\t1\t1",
            "more than once in the first line",
        ),
        ("\tnv\tmel\tx\nnv\t0\t1\t1\nnv\t1\t1\t1\nx\t1\t1\t1", "in the first column"),
        ("predicted (rows)\tnv\tmel\tb k l\nnv\t0\t1\t1", "seem to be predicted classes"),
        ('"nv,1\n2', "cannot be read as a table"),
    ],
)
def test_what_is_no_table_of_costs_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read_cost_table(text, LABELS)

    assert caught.value.field == "weights"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "cost"),
    [("0.000;1.500\n20.000;0.000", 20), ("0;1.5\n20.000;0", 20), ("0,1\n20.125,0", 20.125)],
    ids=["three decimals everywhere", "one decimal", "commas"],
)
def test_points_that_part_decimals_elsewhere_do_so_everywhere(text: str, cost: float) -> None:
    assert weights(text, LabelSet.declared(["well", "ill"]))[1][0] == cost


def test_names_that_are_no_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="is not one of the labels"):
        weights("\tnv\tmel\tdf\nnv\t0\t1\t1\nmel\t20\t0\t8\ndf\t2\t4\t0")


WEIGHTS: dict[str, dict[str, float]] = {
    "sick": {"sick": 0, "well": 100},
    "well": {"sick": 7.5, "well": 0},
}

TOML = """\
currency = "EUR"
note = "a missed case costs a hundred times a visit"

[weights.sick]
sick = 0
well = 100

[weights.well]
sick = 7.5
well = 0
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_toml_names_every_cell(tmp_path: Path) -> None:
    found = read_weights(write(tmp_path, "costs.toml", TOML))

    assert found == WeightsFile(WEIGHTS, "EUR", "a missed case costs a hundred times a visit")


def test_json_says_the_same(tmp_path: Path) -> None:
    text = '{"weights": {"sick": {"sick": 0, "well": 100}, "well": {"sick": 7.5, "well": 0}}}'

    assert read_weights(write(tmp_path, "costs.json", text)) == WeightsFile(WEIGHTS)


@pytest.mark.parametrize("separator", [",", ";"])
def test_lines_of_csv_are_actual_classes(tmp_path: Path, separator: str) -> None:
    text = "actual (rows),well,sick\nsick,100,0\nwell,0,7.5\n".replace(",", separator)

    assert read_weights(write(tmp_path, "costs.csv", text)) == WeightsFile(WEIGHTS)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("costs.xlsx", "", "is not supported"),
        ("costs.toml", "weights = ", "not a valid TOML file"),
        ("costs.toml", "a = 1", "no member 'weights'"),
        ("costs.toml", "wieghts = 1\n[weights.a]\na = 1", "a member 'wieghts'"),
        ("costs.json", '{"weights": [[0, 1], [1, 0]]}', "no member 'weights' with a table"),
        ("costs.json", '{"weights": {"a": 1}}', "the costs of actual 'a' are 1"),
        ("costs.json", '{"weights": {"a": {"a": true}}}', "predicted 'a' is True"),
        ("costs.json", '{"weights": {"a": {"a": NaN}}}', "not valid JSON"),
        ("costs.json", '{"weights": {"a": {"a": 1}, "a": {"a": 1}}}', "occurs twice"),
        ("costs.json", '{"weights": {"a": {"a": 1}}, "currency": 5}', "5 is not text"),
        ("costs.csv", "a\n", "holds no costs"),
        ("costs.csv", "predicted (rows),a\na,1\n", "lines are predicted classes"),
        ("costs.csv", "y_pred \\ y_true,a\na,1\n", "lines are predicted classes"),
        ("costs.csv", "actual (columns),a\na,1\n", "lines are predicted classes"),
        ("costs.csv", "columns=true,a\na,1\n", "lines are predicted classes"),
        ("costs.csv", ",a\na,1_0\n", "the cost at line 2 is '1_0'"),
        ("costs.csv", ",a\na,1,2\n", "line 2 has 3 fields"),
        ("costs.csv", "actual,predicted,cost\na,b,1\n", "costs.csv has a line for each cost"),
        ("costs.csv", ",a,a\na,1,2\n", "'a' occurs more than once in the first line"),
        ("costs.csv", ",a\na,1\na,1\n", "'a' occurs more than once in the first column"),
        ("costs.csv", ",a\na,1 EUR\n", "the cost at line 2 is '1 EUR'"),
        ("costs.csv", ";a\na;20.000\n", "the cost 20.000 may be 20 or 20000"),
    ],
)
def test_what_is_no_cost_matrix_is_refused(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_weights(write(tmp_path, name, text))

    assert says in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_weights(tmp_path / "costs.toml")
