"""Cost matrices out of files: every cell named by its labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.arrays.files.weights import WeightsFile, read_weights
from offdiag.errors import InvalidInput

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


def test_lines_of_csv_are_actual_classes(tmp_path: Path) -> None:
    text = "actual (rows),well,sick\nsick,100,0\nwell,0,7.5\n"

    assert read_weights(write(tmp_path, "costs.csv", text)) == WeightsFile(WEIGHTS)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("costs.xlsx", "", "names no format"),
        ("costs.toml", "weights = ", "not a valid TOML file"),
        ("costs.toml", "a = 1", "no member 'weights'"),
        ("costs.toml", "wieghts = 1\n[weights.a]\na = 1", "a member 'wieghts'"),
        ("costs.json", '{"weights": [[0, 1], [1, 0]]}', "no member 'weights' with a table"),
        ("costs.json", '{"weights": {"a": 1}}', "the costs of actual 'a' are 1"),
        ("costs.json", '{"weights": {"a": {"a": true}}}', "predicted 'a' is True"),
        ("costs.json", '{"weights": {"a": {"a": NaN}}}', "not valid JSON"),
        ("costs.json", '{"weights": {"a": {"a": 1}, "a": {"a": 1}}}', "stands twice"),
        ("costs.json", '{"weights": {"a": {"a": 1}}, "currency": 5}', "5 is not text"),
        ("costs.csv", "a\n", "holds no costs"),
        ("costs.csv", "predicted (rows),a\na,1\n", "lines are predicted classes"),
        ("costs.csv", ",a\na,1,2\n", "line 2 has 3 fields"),
        ("costs.csv", ",a,a\na,1,2\n", "'a' stands more than once in the first line"),
        ("costs.csv", ",a\na,1\na,1\n", "'a' stands more than once in the first column"),
        ("costs.csv", ",a\na,1 EUR\n", "the cost at line 2 is '1 EUR'"),
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
