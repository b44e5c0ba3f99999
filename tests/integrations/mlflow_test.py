"""Runs of MLflow's own tracking store become runs here."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

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
        ({"artifact": "tables/answers.json"}, "no column 'target'.*'diagnosis'"),
        ({"orientation": "rows"}, "orientation: 'rows' is not known"),
    ],
)
def test_what_is_not_there_is_said(
    tracking: Tracking, given: dict[str, str], message: str
) -> None:
    with pytest.raises(offdiag.InvalidInput, match=message):
        tracking.import_run(**given)
