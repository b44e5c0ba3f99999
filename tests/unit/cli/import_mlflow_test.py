"""`offdiag import mlflow --experiment`: whole experiments, from each kind of tracking store."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.tracking_stores import (
    EXPERIMENT,
    Recorded,
    serving,
    table,
    write_database,
    write_folder,
)

Command = Callable[..., Any]


@pytest.fixture(params=["folder", "database", "server"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    match request.param:
        case "folder":
            yield write_folder(tmp_path)
        case "database":
            yield write_database(tmp_path)
        case _:
            with serving() as address:
                yield address


def import_all(offdiag: Command, uri: str, *more: str) -> Any:
    return offdiag(
        "import", "mlflow", "--tracking-uri", uri, "--experiment", EXPERIMENT, "--all", *more
    )


def test_an_experiment_is_imported_once_with_everything_said_of_its_runs(
    offdiag: Command, uri: str
) -> None:
    answer = import_all(offdiag, uri, "--dataset", "holdout", "--json")

    forest, matrix, sweep, running = answer.json["runs"]
    assert (forest["artifact"], forest["true_column"], forest["pred_column"]) == (
        "tables/predictions.json", "label", "prediction",
    )  # fmt: skip
    run = offdiag("runs", "show", forest["id"], "--json").json
    assert (run["name"], run["dataset"], run["n_predictions"]) == ("forest", "holdout", 2)
    assert run["params"] == {"depth": "3", "metrics.loss": 0.25}
    assert run["tags"]["team"] == "derm"
    assert run["tags"]["mlflow.run_id"] == forest["mlflow_run_id"]
    assert run["tags"]["import.columns"] == "y_true = label, y_pred = prediction"
    assert matrix["artifact"] == "confusion_matrix.csv"
    shown = offdiag("runs", "show", matrix["id"], "--json").json
    assert shown["orientation"]["source"] == "actual_rows"
    assert "no table of predictions" in sweep["problem"]
    assert "not finished" in running["problem"]
    assert answer.code == 1

    again = import_all(offdiag, uri, "--dataset", "holdout", "--json").json["runs"]
    assert [each["id"] for each in again] == [each["id"] for each in answer.json["runs"]]
    assert [each["already_existed"] for each in again] == [True, True, False, False]
    told = import_all(offdiag, uri, "--dataset", "holdout").out
    assert "0 imported, 2 imported before, 2 not imported" in told
    assert told.count("imported before") == 3  # Of each run, and in the sum.


def test_an_experiment_that_is_not_there_is_refused(offdiag: Command, uri: str) -> None:
    answer = offdiag("import", "mlflow", "--tracking-uri", uri, "--experiment", "no", "--all")

    assert answer.code == 2
    assert "experiment" in answer.err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["label", "target", "prediction"], "^--true: 'label' and 'target' of .* could each hold"),
        (["diagnosis", "note", "prediction"], "Name the right one of 'diagnosis', 'note'"),
        (["label", "prediction", "count"], "may be about several samples"),
    ],
)
def test_columns_are_taken_only_where_there_is_no_doubt(
    offdiag: Command, tmp_path: Path, columns: list[str], message: str
) -> None:
    run = Recorded("1" * 32, "r", {"results.json": table(columns, ["a", "b", "a"])})
    uri = write_folder(tmp_path, (run,))

    refused = import_all(offdiag, uri, "--json")
    stated = import_all(offdiag, uri, "--true", columns[0], "--pred", columns[-1], "--json")

    assert refused.code == 1
    assert refused.json["runs"][0]["id"] is None
    assert re.search(message, refused.json["runs"][0]["problem"])
    assert stated.code == 0


def test_two_tables_of_predictions_are_not_chosen_from(offdiag: Command, tmp_path: Path) -> None:
    content = table(["label", "prediction"], ["a", "a"], ["b", "a"])
    files = {"epoch 1.csv": "label,prediction\na,b\nb,b\n", "epoch 2.json": content}
    uri = write_folder(tmp_path, (Recorded("1" * 32, "r", files),))

    refused = import_all(offdiag, uri, "--json").json["runs"][0]["problem"]
    chosen = import_all(offdiag, uri, "--artifact", "epoch 2.json", "--json").json["runs"][0]

    assert "several: epoch 1.csv, epoch 2.json" in refused
    assert chosen["artifact"] == "epoch 2.json"


def test_examples_of_a_model_are_no_predictions(offdiag: Command, tmp_path: Path) -> None:
    files = {
        "model/MLmodel": "",
        "model/input_example.json": table(["label", "prediction"], ["a", "a"]),
        "model/data.csv": "label,prediction\na,b\n",
    }
    uri = write_folder(tmp_path, (Recorded("1" * 32, "r", files),))

    assert "no table" in import_all(offdiag, uri, "--json").json["runs"][0]["problem"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--experiment", "e"),
        ("--all",),
        ("mlruns/0/1", "--name", "n"),
        ("mlruns/0/1", "--name", "n", "--dataset", "d", "--experiment", "e"),
        ("--experiment", "e", "--all", "--name", "n"),
    ],
)
def test_what_to_import_has_to_be_said(offdiag: Command, arguments: tuple[str, ...]) -> None:
    assert offdiag("import", "mlflow", *arguments).code == 2


def test_a_database_is_found_by_the_address_that_mlflow_gives_it(
    offdiag: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "my work"
    folder.mkdir()
    address = write_database(folder)

    encoded = address.replace("my work", "my%20work")
    runs = import_all(offdiag, encoded, "--dataset", "holdout", "--json").json["runs"]

    assert (runs[0]["name"], runs[0]["problem"]) == ("forest", None)


def test_artifacts_out_of_reach_say_where_they_are(offdiag: Command, tmp_path: Path) -> None:
    uri = write_database(tmp_path)

    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        database.execute("UPDATE runs SET artifact_uri = 's3://bucket/17'")
        database.commit()

    problem = import_all(offdiag, uri, "--json").json["runs"][0]["problem"]

    assert "s3://bucket/17" in problem
    assert "mlflow server" in problem


def test_a_run_without_a_folder_of_artifacts_may_have_none(
    offdiag: Command, tmp_path: Path
) -> None:
    uri = write_database(tmp_path)

    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        database.execute("UPDATE runs SET artifact_uri = '/nowhere/17'")
        database.commit()

    problem = import_all(offdiag, uri, "--json").json["runs"][0]["problem"]

    assert "no folder /nowhere/17: the run has no artifacts, or not on this machine." in problem
