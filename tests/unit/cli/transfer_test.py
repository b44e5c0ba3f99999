"""`offdiag import`: a run of another tool, and the convention it was read by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offdiag.importers import DIALECTS

Command = Callable[..., Any]

CARET = ",a,b\na,8,1\nb,3,17\n"
RECORDS = [{"actual": "a", "predicted": "a"}, {"actual": "b", "predicted": "a"}]


def shown(offdiag: Command, run_id: str) -> Any:
    return offdiag("runs", "show", run_id, "--json").json


def test_a_matrix_is_turned_and_its_origin_kept(folder: Path, offdiag: Command) -> None:
    (folder / "cm.csv").write_text(CARET, encoding="utf-8")

    answer = offdiag(
        "import", "caret", "cm.csv", "--dataset", "wine", "--name", "knn",
        "--tag", "team=a", "--json",
    )  # fmt: skip

    assert answer.code == 0
    assert answer.json["convention"] == DIALECTS["caret"].convention
    run = shown(offdiag, answer.json["id"])
    assert run["orientation"]["source"] == "actual_columns"
    assert offdiag("gate", run["id"], "--min", "support[a]=11").code == 0
    assert run["tags"] | {"import.sha256": ""} == {
        "import.dialect": "caret",
        "import.convention": DIALECTS["caret"].convention,
        "import.file": "cm.csv",
        "import.sha256": "",
        "team": "a",
    }
    assert len(run["tags"]["import.sha256"]) == 64


def test_predictions_stay_predictions(folder: Path, offdiag: Command) -> None:
    (folder / "cm.json").write_text(json.dumps(RECORDS), encoding="utf-8")

    answer = offdiag("import", "dvclive", "cm.json", "--dataset", "d", "--name", "n", "--json")

    run = shown(offdiag, answer.json["id"])
    assert (run["orientation"]["source"], run["n_predictions"]) == ("predictions", 2)


def test_columns_in_doubt_are_asked_for_by_the_option(folder: Path, offdiag: Command) -> None:
    table = {"columns": ["label", "target", "prediction"], "data": [["a", "b", "a"]]}
    (folder / "t.json").write_text(json.dumps(table), encoding="utf-8")

    answer = offdiag("import", "wandb", "t.json", "--dataset", "d", "--name", "n")

    assert answer.code == 2
    assert answer.err.startswith("offdiag: --true: 'label' and 'target' of t.json")


def test_people_are_told_what_was_assumed(folder: Path, offdiag: Command) -> None:
    (folder / "cm.csv").write_text(CARET, encoding="utf-8")

    answer = offdiag("import", "caret", "cm.csv", "--dataset", "wine", "--name", "knn")

    assert answer.code == 0
    assert answer.err.startswith("Read as caret: Rows are predictions")
    assert "is logged" in answer.out


def test_a_repeated_import_with_a_key_finds_the_run(folder: Path, offdiag: Command) -> None:
    (folder / "cm.csv").write_text(CARET, encoding="utf-8")
    call = ("import", "caret", "cm.csv", "--dataset", "w", "--name", "k", "--key", "1", "--json")

    assert offdiag(*call).json["id"] == offdiag(*call).json["id"]


def test_nothing_is_guessed(folder: Path, offdiag: Command) -> None:
    (folder / "m.csv").write_text(",a,b\na,8,1\nb,3,17\n", encoding="utf-8")

    answer = offdiag("import", "csv", "m.csv", "--dataset", "wine", "--name", "knn")

    assert answer.code == 2
    assert "a matrix cannot show it" in answer.err
    assert offdiag("runs", "list", "--json").json == {
        "runs": [],
        "n_without_slices": 0,
        "n_weighted": 0,
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_command_that_states_its_convention(
    offdiag: Command, dialect: str
) -> None:
    answer = offdiag("import", dialect, "--help")

    assert answer.code == 0
    assert DIALECTS[dialect].convention in " ".join(answer.out.split())
