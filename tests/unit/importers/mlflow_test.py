"""MLflow: what a run directory holds, and what has to be said about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers import ImportedLabels, ImportedMatrix, read

TABLE = {
    "columns": ["length", "target", "outputs"],
    "data": [[1.5, "cat", "cat"], [2.5, "cat", "dog"], [0.5, "dog", "dog"]],
}
MATRIX = {"labels": ["cat", "dog"], "matrix": [[8, 2], [3, 17]], "orientation": "actual_rows"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run as the file store of MLflow keeps it, without artifacts of an evaluation."""
    folder = tmp_path / "mlruns" / "0" / "6f1c"
    files = {
        "meta.yaml": "run_name: upbeat-lynx-7\nstatus: 3\n",
        "params/depth": "8",
        "params/note": "x" * 6_000,
        "metrics/accuracy_score": "1700000000000 0.8 0\n1700000000001 0.9 1\n",
        "metrics/val/log_loss": "1700000000000 nan 0\n",
        "tags/mlflow.runName": "upbeat-lynx-7",
        "tags/mlflow.user": "lee",
        "artifacts/model/MLmodel": "flavors: {}\n",
    }
    for name, text in files.items():
        write(folder, name, text)
    return folder


def write(folder: Path, name: str, content: object) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def test_the_table_of_an_evaluation_has_the_predictions(run: Path) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)

    found = read("mlflow", run)

    assert found.content == ImportedLabels(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    assert found.source == run / "artifacts" / "eval_results_table.json"


def test_the_last_value_of_a_metric_is_that_of_its_highest_step(run: Path) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)
    write(run, "metrics/f1", "1700000000002 0.7 2\n1700000000009 0.9 5\n1700000000010 0.8 3\n")
    write(run, "metrics/auc", "1700000000002 0.7 5\n1700000000001 0.6 5\n1700000000002 0.5 5\n")
    write(run, "metrics/old", "1700000000001 0.4\n1700000000002 0.3\n")

    params = read("mlflow", run).params

    assert (params["metrics.f1"], params["metrics.auc"]) == (0.9, 0.5)
    assert params["metrics.old"] == 0.3


def test_parameters_last_metrics_and_tags_come_along(run: Path) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)

    found = read("mlflow", run)

    assert found.params == {
        "depth": "8",
        "note": "x" * 5_000,
        "metrics.accuracy_score": 0.9,
        "metrics.val/log_loss": "nan",
    }
    assert found.tags == {"mlflow.runName": "upbeat-lynx-7", "mlflow.user": "lee"}


def test_columns_of_evaluated_data_have_names_of_their_own(run: Path) -> None:
    table = TABLE | {"columns": ["length", "species", "guess"]}
    write(run, "artifacts/eval_results_table.json", table)

    with pytest.raises(InvalidInput) as refused:
        read("mlflow", run)
    found = read("mlflow", run, true_column="species", pred_column="guess", labels=["dog", "cat"])

    assert "is known to hold the actual class" in str(refused.value)
    assert "'species', 'guess'" in str(refused.value)
    assert isinstance(found.content, ImportedLabels)
    assert found.content.labels == ("dog", "cat")


def test_a_logged_matrix_that_names_its_axes_is_taken(run: Path) -> None:
    write(run, "artifacts/reports/confusion_matrix.json", MATRIX)

    assert read("mlflow", run).content == ImportedMatrix(
        [[8, 2], [3, 17]], ("cat", "dog"), SourceOrientation.ACTUAL_ROWS
    )


def test_a_logged_matrix_that_does_not_is_asked_about(run: Path) -> None:
    write(run, "artifacts/confusion_matrix.csv", ",cat,dog\ncat,8,2\ndog,3,17\n")

    with pytest.raises(InvalidInput, match="a matrix cannot show it"):
        read("mlflow", run)
    found = read("mlflow", run, orientation="actual_columns").content

    assert isinstance(found, ImportedMatrix)
    assert found.orientation is SourceOrientation.ACTUAL_COLUMNS


def test_a_statement_against_the_file_is_refused(run: Path) -> None:
    write(run, "artifacts/confusion_matrix.json", MATRIX)

    with pytest.raises(InvalidInput, match="says 'actual_rows'"):
        read("mlflow", run, orientation="actual_columns")


def test_predictions_are_preferred_to_a_matrix(run: Path) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)
    write(run, "artifacts/confusion_matrix.json", MATRIX)

    assert isinstance(read("mlflow", run).content, ImportedLabels)
    assert isinstance(
        read("mlflow", run, artifact="confusion_matrix.json").content, ImportedMatrix
    )


def test_several_candidates_are_not_chosen_from(run: Path) -> None:
    write(run, "artifacts/a/confusion_matrix.json", MATRIX)
    write(run, "artifacts/b/confusion_matrix.json", MATRIX)

    with pytest.raises(InvalidInput, match=r"several: a/confusion_matrix.json, b/conf"):
        read("mlflow", run)


@pytest.mark.parametrize(
    ("artifact", "content", "says"),
    [
        ("eval_results_table.json", {"columns": 1, "data": []}, "is not a table"),
        ("eval_results_table.json", TABLE | {"data": [[1]]}, "row 0"),
        ("confusion_matrix.json", {"matrix": [[1]]}, "names no classes"),
    ],
)
def test_a_damaged_artifact_is_refused(
    run: Path, artifact: str, content: object, says: str
) -> None:
    write(run, f"artifacts/{artifact}", content)

    with pytest.raises(InvalidInput) as refused:
        read("mlflow", run)

    assert says in str(refused.value)


def test_a_run_without_anything_to_import_says_what_it_has(run: Path) -> None:
    # MLflow's own evaluation of three classes writes it, and no table of predictions.
    write(run, "artifacts/per_class_metrics.csv", "positive_class,true_positives\ncat,8\n")

    with pytest.raises(InvalidInput) as refused:
        read("mlflow", run)
    with pytest.raises(InvalidInput) as missing:
        read("mlflow", run, artifact="gone.csv")

    assert "It has model/MLmodel, per_class_metrics.csv." in str(refused.value)
    assert "no artifact 'gone.csv'" in str(missing.value)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a run of MLflow"):
        read("mlflow", tmp_path)


def test_the_last_value_of_a_long_history_is_taken(run: Path) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)
    steps = "".join(f"17000000{step:05} {step}.25 {step}\n" for step in range(20_000))
    write(run, "metrics/loss", steps)

    assert read("mlflow", run).params["metrics.loss"] == 19_999.25


@pytest.mark.parametrize(
    "place", ["artifacts/confusion_matrix.csv", "params/depth", "tags/more", "metrics/loss"]
)
def test_a_link_that_leads_out_of_the_run_is_not_followed(run: Path, place: str) -> None:
    write(run, "artifacts/eval_results_table.json", TABLE)
    secret = run.parent.parent / "secret"
    secret.write_text("0 1 0\n", "utf-8")
    (run / place).unlink(missing_ok=True)
    (run / place).symlink_to(secret)

    with pytest.raises(InvalidInput, match="is a link out of the run"):
        read("mlflow", run)


def test_a_link_inside_of_the_run_is_followed(run: Path) -> None:
    write(run, "artifacts/table.json", TABLE)
    (run / "artifacts" / "eval_results_table.json").symlink_to("table.json")

    assert isinstance(read("mlflow", run).content, ImportedLabels)
