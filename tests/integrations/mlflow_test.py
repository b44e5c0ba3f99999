"""Runs of MLflow's own tracking store become runs here."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import offdiag

mlflow: Any = pytest.importorskip(
    "mlflow", reason="mlflow-skinny is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = [
    pytest.mark.integrations,
    # MLflow's own use of SQLAlchemy and of its own parts.
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore:_ImportHookChainedLoader:ImportWarning"),
    pytest.mark.filterwarnings("ignore:Hint. Inferred schema:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*Any type hint is inferred:UserWarning"),
]


class Tracking:
    """A tracking database of MLflow with one run, and a registry to import into."""

    def __init__(self, folder: Path) -> None:
        self.uri = f"sqlite:///{folder / 'mlflow.db'}"
        self.url = f"sqlite:///{folder / 'registry.db'}"
        self.client = mlflow.MlflowClient(tracking_uri=self.uri)
        experiment = self.client.create_experiment("e", artifact_location=f"file://{folder}/art")
        run = self.client.create_run(experiment, run_name="resnet")
        self.run_id: str = run.info.run_id
        self.client.log_param(self.run_id, "lr", 0.1)
        self.client.log_metric(self.run_id, "loss", 0.5)
        self.client.log_metric(self.run_id, "gap", float("nan"))
        self.client.set_tag(self.run_id, "team", "derm")

    def import_run(self, **given: Any) -> offdiag.Run:
        return offdiag.mlflow.import_run(
            self.run_id, dataset=f"d{given}", tracking_uri=self.uri, url=self.url, **given
        )


@pytest.fixture(scope="module")
def tracking(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Tracking:
    folder = tmp_path_factory.mktemp("mlflow")
    shutil.copy(migrated_file, folder / "registry.db")
    made = Tracking(folder)
    table = {"diagnosis": ["mel", "nv", "nv"], "answer": ["mel", "nv", "mel"]}
    made.client.log_table(made.run_id, table, "tables/answers.json")
    made.client.log_text(made.run_id, ",mel,nv\nmel,5,1\nnv,2,8\n", "plain/counts.csv")
    made.client.log_text(
        made.run_id, "actual,mel,nv\nmel,5,1\nnv,2,8\n", "named/confusion_matrix.csv"
    )
    return made


def test_a_logged_table_becomes_predictions_with_everything_said_of_the_run(
    tracking: Tracking,
) -> None:
    run = tracking.import_run(
        artifact="tables/answers.json", true_column="diagnosis", pred_column="answer"
    )

    assert run.evaluation().matrix.counts.tolist() == [[1, 0], [1, 1]]
    found = offdiag.search_runs(url=tracking.url).set_index("run_id").loc[run.id]
    assert found["name"] == "resnet"
    assert found["params.lr"] == "0.1"
    assert found["params.metrics.loss"] == 0.5
    assert found["params.metrics.gap"] == "nan"
    assert found["tags.team"] == "derm"
    assert found["tags.mlflow.run_id"] == tracking.run_id
    assert found["tags.import.dialect"] == "mlflow"


def test_importing_again_finds_the_run(tracking: Tracking) -> None:
    given = {
        "artifact": "tables/answers.json",
        "true_column": "diagnosis",
        "pred_column": "answer",
        "project": "again",
    }

    assert tracking.import_run(**given).id == tracking.import_run(**given).id


def test_a_matrix_that_names_its_axes_is_found_and_read(tracking: Tracking) -> None:
    run = tracking.import_run()

    frame = run.evaluation().confusion_matrix
    assert frame.loc["mel", "nv"] == 1
    assert frame.loc["nv", "mel"] == 2


def test_the_orientation_of_a_plain_matrix_is_asked_for(tracking: Tracking) -> None:
    with pytest.raises(offdiag.InvalidInput, match="orientation"):
        tracking.import_run(artifact="plain/counts.csv")

    run = tracking.import_run(artifact="plain/counts.csv", orientation="actual_columns")
    assert run.evaluation().confusion_matrix.loc["mel", "nv"] == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"artifact": "nothing.json"}, "has no artifact 'nothing.json'. It has .*answers.json"),
        ({"artifact": "tables/answers.json"}, "no column of answers.json .*'diagnosis'"),
        ({"orientation": "rows"}, "orientation: 'rows' is not known"),
    ],
)
def test_what_is_not_there_is_said(
    tracking: Tracking, given: dict[str, str], message: str
) -> None:
    with pytest.raises(offdiag.InvalidInput, match=message):
        tracking.import_run(**given)


def test_an_experiment_of_twenty_runs_is_imported_whole_and_once(
    migrated_file: Path, tmp_path: Path
) -> None:
    shutil.copy(migrated_file, tmp_path / "registry.db")
    uri, url = f"sqlite:///{tmp_path / 'mlflow.db'}", f"sqlite:///{tmp_path / 'registry.db'}"
    client = mlflow.MlflowClient(tracking_uri=uri)
    location = (tmp_path / "artifacts").as_uri()
    experiment = client.create_experiment("lesions", artifact_location=location)
    truth = ["mel", "nv"] * 10
    for number in range(20):
        run_id = client.create_run(experiment, run_name=f"forest {number}").info.run_id
        client.log_param(run_id, "depth", number)
        predicted = ["nv"] * number + truth[number:]
        client.log_table(run_id, {"label": truth, "prediction": predicted}, "predictions.json")
        client.set_terminated(run_id)

    first = offdiag.mlflow.import_experiment("lesions", tracking_uri=uri, url=url)
    second = offdiag.mlflow.import_experiment("lesions", tracking_uri=uri, url=url)

    assert [found.problem for found in first] == [None] * 20
    assert {found.columns for found in first} == {("label", "prediction")}
    assert [found.name for found in first] == [f"forest {number}" for number in range(20)]
    assert all(found.already_imported for found in second)
    assert [found.run.id for found in second if found.run] == [
        found.run.id for found in first if found.run
    ]
    runs = offdiag.search_runs(url=url).set_index("name")
    assert len(runs) == 20
    assert runs.loc["forest 7", "params.depth"] == "7"


@pytest.fixture
def evaluated(
    migrated_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Evaluates a table of predictions in MLflow, and returns the id of its run."""
    if not entry_points(group="mlflow.model_evaluator", name="offdiag"):
        pytest.skip("offdiag was installed before it had an evaluator (make setup)")
    shutil.copy(migrated_file, tmp_path / "registry.db")
    monkeypatch.setenv("OFFDIAG_URL", f"sqlite:///{tmp_path / 'registry.db'}")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    mlflow.MlflowClient(tracking_uri=uri).create_experiment(
        "e", artifact_location=(tmp_path / "artifacts").as_uri()
    )
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "e")
    frame = pd.DataFrame(
        {
            "image": ["a", "b", "c"],
            "site": ["x", "x", "y"],
            "label": ["mel", "nv", "nv"],
            "guess": ["mel", "mel", "nv"],
        }
    )

    def evaluate(**config: Any) -> str:
        with mlflow.start_run(run_name="forest") as run:
            mlflow.log_param("depth", 3)
            mlflow.models.evaluate(
                data=frame,
                targets="label",
                predictions="guess",
                model_type="classifier",
                evaluators="offdiag",
                evaluator_config=config,
            )
        return str(run.info.run_id)

    return evaluate


def test_an_evaluation_of_mlflow_is_logged_beside_it(evaluated: Callable[..., str]) -> None:
    mlflow_id = evaluated(dataset="lesions", sample_id="image", slices=["site"])

    found = offdiag.search_runs().set_index("name").loc["forest"]
    tags = mlflow.MlflowClient().get_run(mlflow_id).data.tags
    assert tags["offdiag.run_id"] == found["run_id"]
    assert tags["offdiag.url"].endswith(found["run_id"])
    assert (found["tags.mlflow.run_id"], found["params.depth"]) == (mlflow_id, "3")
    assert found["n_predictions"] == 3
    (again,) = offdiag.mlflow.import_experiment("e")
    assert again.already_imported


def test_the_evaluator_logs_nothing_unless_a_dataset_is_named(
    evaluated: Callable[..., str],
) -> None:
    with pytest.raises(mlflow.MlflowException, match="could not be evaluated by any"):
        evaluated()
    with pytest.raises(offdiag.InvalidInput, match="evaluator_config: 'datset' is not known"):
        evaluated(dataset="lesions", datset="lesions")

    assert offdiag.search_runs().empty


def of_model(predict: Callable[[pd.DataFrame], Any], **given: Any) -> None:
    frame = pd.DataFrame({"image": ["a", "b"], "x": [0.1, 0.9], "label": ["mel", "nv"]})
    config = {"dataset": "lesions", **given.pop("config", {})}
    with mlflow.start_run(run_name="forest"):
        mlflow.models.evaluate(
            predict,
            data=frame,
            targets="label",
            model_type="classifier",
            evaluators="offdiag",
            evaluator_config=config,
            **given,
        )


def classes(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"sure": frame["x"], "class": ["mel", "mel"]})


def test_the_predicted_class_is_a_column_of_what_the_model_returns(
    evaluated: Callable[..., str],
) -> None:
    of_model(classes, predictions="class")
    of_model(lambda frame: classes(frame)[["class"]].to_numpy())

    assert offdiag.search_runs()["metrics.overall_accuracy"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("returned", [classes, lambda frame: frame[["x", "x"]].to_numpy()])
def test_a_model_that_returns_several_columns_has_to_say_which_is_the_class(
    evaluated: Callable[..., str], returned: Callable[[pd.DataFrame], Any]
) -> None:
    with pytest.raises(
        offdiag.InvalidInput, match=r"model: it returns 2 columns, .* predictions="
    ):
        of_model(returned)

    assert offdiag.search_runs().empty


def test_a_column_that_is_no_feature_cannot_be_read(evaluated: Callable[..., str]) -> None:
    with pytest.raises(offdiag.InvalidInput, match=r"sample_id: .* 'image'.* feature_names="):
        of_model(lambda _: ["mel", "mel"], feature_names=["x"], config={"sample_id": "image"})
