"""`offdiag evaluate`: numbers from a file, and nothing left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offdiag.advice.situation import Goal
from offdiag.cli.without_registry.evaluate import GOALS

Command = Callable[..., Any]

WINE = [[8, 3, 8], [1, 17, 3], [5, 2, 7]]
"""Zeng 2025 (Mathematics 13(16) 2609), Table 9: wine cultivars told by alcohol alone."""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_predictions_in_csv_give_every_metric_as_json(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", "id,y,yhat\n1,NA,NA\n2,007,7\n3,7,7\n")

    answer = offdiag("evaluate", file, "--true", "y", "--pred", "yhat", "--json")

    assert answer.code == 0
    assert answer.err == "Note: Classes may be meant as one: '7' and '007' (kind).\n"
    assert answer.json["labels"] == ["7", "007", "NA"]
    assert answer.json["orientation"] == "actual_rows"
    assert answer.json["matrix"] == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert answer.json["aggregate"]["overall_accuracy"]["value"] == pytest.approx(2 / 3)
    assert answer.json["per_class"]["precision"][1]["reason"] == "no_predicted_positives"


@pytest.mark.usefixtures("no_registry")
def test_no_database_is_made_or_read(
    folder: Path, offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(folder, "p.csv", "y_true,y_pred\na,a\nb,a\n")
    monkeypatch.setenv("OFFDIAG_URL", "nonsense://")

    answer = offdiag("evaluate", file)

    assert answer.code == 0
    assert [path.name for path in folder.iterdir()] == ["p.csv"]


def test_declared_labels_set_order_and_absent_classes(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", 'y_true,y_pred\nb,b\n"a,1",b\n')

    answer = offdiag("evaluate", file, "--labels", 'b,"a,1",c', "--json")

    assert answer.json["labels"] == ["b", "a,1", "c"]
    assert answer.json["matrix"] == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_a_matrix_is_evaluated_in_the_orientation_it_states(
    folder: Path, offdiag: Command
) -> None:
    content = {"labels": ["1", "2", "3"], "matrix": WINE, "orientation": "actual_rows"}
    file = write(folder, "wine.json", json.dumps(content))

    answer = offdiag("evaluate", file, "--json")

    recall = [round(value["value"], 6) for value in answer.json["per_class"]["recall"]]
    assert recall == [0.421053, 0.809524, 0.5]


def test_a_matrix_as_caret_prints_it_is_turned(folder: Path, offdiag: Command) -> None:
    file = write(folder, "m.csv", ",1,2,3\n1,8,1,5\n2,3,17,2\n3,8,3,7\n")

    answer = offdiag("evaluate", file, "--matrix", "--orientation", "actual_columns", "--json")

    assert answer.json["matrix"] == WINE


def test_people_get_tables_with_both_axes_named(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", "y_true,y_pred\na,a\nb,a\n")

    answer = offdiag("evaluate", file)

    assert answer.code == 0
    assert "actual ↓  predicted →" in answer.out
    assert "undefined (this class was never predicted)" in answer.out
    assert "overall_accuracy" in answer.out


@pytest.mark.parametrize(
    ("name", "text", "arguments", "says"),
    [
        ("p.csv", "y_true,y_pred\na,b\n", ["--labels", "a,c"], "'b'"),
        ("p.csv", "y_true,y_pred\na,b\n", ["--ordinal"], "no labels were declared"),
        ("p.csv", "y_true,y_pred\na,b\n", ["--positive", "a"], "--positive: it is for scores"),
        ("p.csv", "y_true,y_pred\na,b\n", ["--about", "a"], "--about: it is for advice"),
        ("m.csv", ",a\na,1\n", ["--matrix"], "--orientation actual_rows"),
        (
            "m.json",
            '{"matrix": [[1]], "orientation": "actual_rows"}',
            ["--orientation", "actual_columns"],
            "says 'actual_rows', the option says 'actual_columns'",
        ),
        (
            "m.json",
            '{"matrix": [[1]], "labels": ["a"], "orientation": "actual_rows"}',
            ["--labels", "b"],
            "names its classes",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    folder: Path, offdiag: Command, name: str, text: str, arguments: list[str], says: str
) -> None:
    answer = offdiag("evaluate", write(folder, name, text), *arguments)

    assert answer.code == 2
    assert answer.out == ""
    assert says in answer.err
    assert answer.err.count("\n") == 1


def test_advice_names_three_numbers_and_their_reasons(folder: Path, offdiag: Command) -> None:
    file = write(folder, "m.csv", "actual (rows),well,ill\nwell,970,20\nill,2,8\n")

    answer = offdiag(
        "evaluate", file, "--matrix", "--advise", "--goal", "misses", "--about", "ill", "--json"
    )
    shown = offdiag("evaluate", file, "--matrix", "--advise")

    report = answer.json["advice"]["report"]
    assert [entry["key"] for entry in report] == ["recall", "specificity", "informedness"]
    assert "It does not depend on the class balance." in report[0]["why"]
    assert "Recommended" in shown.out
    assert "Always predicting 'well' scores 99.0 %." in shown.out


def test_goals_of_the_command_line_are_those_of_the_advice() -> None:
    assert tuple(GOALS) == tuple(Goal)
