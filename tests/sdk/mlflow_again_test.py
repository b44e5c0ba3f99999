"""A run of MLflow that was imported is found again, whatever was logged to it since."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import offdiag
from offdiag.store.database import Database
from support.servers import serving

RUN_ID = "6f1c0000000000000000000000000000"
TABLE = {"columns": ["target", "outputs"], "data": [["a", "a"], ["b", "b"], ["b", "a"]]}
PLAIN = ",a,b\na,5,1\nb,2,8\n"


class Tracked:
    """A folder of MLflow with one run, and a registry to import it into."""

    def __init__(self, folder: Path, url: str) -> None:
        self.uri = str(folder)
        self.url = url
        self.folder = folder / "1" / RUN_ID
        self.write("../meta.yaml", "name: lesions\nexperiment_id: '1'\n")
        self.write("meta.yaml", f"run_id: {RUN_ID}\nrun_name: forest\nstatus: 3\n")
        self.write("params/lr", "0.1")
        self.write("artifacts/eval_results_table.json", json.dumps(TABLE))
        self.write("artifacts/plain.csv", PLAIN)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def import_run(self, **given: Any) -> offdiag.Run:
        facts: dict[str, Any] = {"dataset": "lesions", **given}
        return offdiag.mlflow.import_run(RUN_ID, tracking_uri=self.uri, url=self.url, **facts)


@pytest.fixture(params=["database", "server"])
def tracked(
    request: pytest.FixtureRequest, sqlite_database: Database, tmp_path: Path
) -> Iterator[Tracked]:
    if request.param == "database":
        yield Tracked(tmp_path / "mlruns", sqlite_database.url)
        return
    with serving(sqlite_database) as url:
        yield Tracked(tmp_path / "mlruns", url)


def test_a_run_with_new_parameters_is_found_and_they_are_named(tracked: Tracked) -> None:
    run = tracked.import_run(model="forest", tags={"team": "derm"})
    tracked.write("params/lr", "0.2")
    tracked.write("params/depth", "8")
    tracked.write("metrics/loss", "1700000000000 0.5 0\n")

    with pytest.warns(UserWarning, match=f"as {run.id}, .*: depth, lr and metrics.loss") as told:
        again = tracked.import_run()

    assert again.id == run.id
    assert again.params == {"lr": "0.1"}
    assert again.model == "forest"
    assert told[0].filename == __file__


def test_a_run_that_nothing_was_logged_to_since_is_found_without_a_word(tracked: Tracked) -> None:
    run = tracked.import_run(model="forest")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tracked.import_run(model="forest").id == run.id
        assert tracked.import_run().id == run.id


@pytest.mark.parametrize(
    ("first", "again", "said"),
    [
        ({}, {"model": "tree"}, "model: .* imported as {id}, with model none, not 'tree'"),
        ({"model": "b"}, {"model": "t"}, "model: .* imported as {id}, with model 'b', not 't'"),
        ({}, {"dataset": "o"}, "dataset: .* imported as {id}, with dataset 'lesions', not 'o'"),
    ],
)
def test_a_run_that_is_called_otherwise_than_before_is_refused_in_words_about_it(
    tracked: Tracked, first: dict[str, str], again: dict[str, str], said: str
) -> None:
    run = tracked.import_run(**first)

    with pytest.raises(offdiag.Conflict, match=said.format(id=run.id)) as refused:
        tracked.import_run(**again)

    assert f"run {RUN_ID} of MLflow" in str(refused.value)
    assert "key" not in str(refused.value)
    assert tracked.import_run(**{**again, "project": "another"}).id != run.id


def test_an_artifact_that_is_read_otherwise_than_before_is_refused(tracked: Tracked) -> None:
    run = tracked.import_run(artifact="plain.csv", orientation="actual_rows")
    tracked.write("params/depth", "8")

    with pytest.raises(offdiag.Conflict, match=f"imported as {run.id}, with other") as refused:
        tracked.import_run(artifact="plain.csv", orientation="actual_columns")

    assert "key" not in str(refused.value)
    assert tracked.import_run().id != run.id


def test_predictions_that_changed_in_mlflow_are_refused(
    tracked: Tracked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(tmp_path / "spool"))
    run = tracked.import_run()
    other = {**TABLE, "data": [["a", "b"], ["b", "b"], ["b", "a"]]}
    tracked.write("artifacts/eval_results_table.json", json.dumps(other))

    with pytest.raises(offdiag.Conflict, match=f"imported as {run.id}, with other") as refused:
        tracked.import_run()

    assert "chunk" not in str(refused.value)


def test_a_run_that_was_deleted_here_is_told_how_to_bring_it_back(tracked: Tracked) -> None:
    run = tracked.import_run()
    run.delete()

    with pytest.raises(offdiag.Conflict, match=f"run {RUN_ID} of MLflow was imported") as refused:
        tracked.import_run()

    assert f"`offdiag runs restore {run.id}` brings it back" in str(refused.value)
    assert "made of the run of MLflow and the path 'eval_results_table.json'" in str(refused.value)
    assert tracked.import_run(project="another").id != run.id


def test_an_experiment_finds_the_runs_of_a_named_artifact(tracked: Tracked) -> None:
    def import_all() -> offdiag.mlflow.MlflowImport:
        (found,) = offdiag.mlflow.import_experiment(
            "lesions",
            tracking_uri=tracked.uri,
            url=tracked.url,
            artifact="plain.csv",
            orientation="actual_rows",
        )
        return found

    table = tracked.import_run()
    first = import_all()
    tracked.write("params/depth", "8")
    again = import_all()

    assert first.run is not None
    assert again.run is not None
    assert again.already_imported
    assert table.id != first.run.id == again.run.id
