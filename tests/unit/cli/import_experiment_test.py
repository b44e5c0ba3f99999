"""`offdiag import mlflow` of an experiment of 20 runs that MLflow wrote, without MLflow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as sdk
from support import recorded_mlflow as recorded

Command = Callable[..., Any]


@pytest.fixture(params=["database", "folder"])
def uri(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The experiment in each kind of store, where nobody can import MLflow."""
    monkeypatch.setitem(sys.modules, "mlflow", None)
    if request.param == "database":
        return recorded.write_recorded_database(tmp_path)
    return recorded.write_recorded_folder(tmp_path)


def test_an_experiment_that_mlflow_wrote_is_imported_whole_and_once(
    offdiag: Command, uri: str
) -> None:
    words = ("import", "mlflow", "--tracking-uri", uri, "--experiment", recorded.EXPERIMENT)

    first = offdiag(*words, "--all", "--json")
    again = offdiag(*words, "--all")

    found = first.json["runs"]
    assert [run["name"] for run in found] == [
        f"forest {number}: 'é'" for number in range(recorded.N_RUNS)
    ]
    for number, reason in recorded.REFUSED.items():
        assert found[number]["id"] is None
        assert reason in found[number]["problem"]
        assert reason in " ".join(again.out.split())
    imported = {
        number: each["id"] for number, each in enumerate(found) if number not in recorded.REFUSED
    }
    assert all(imported.values())
    assert (first.code, again.code) == (1, 1)
    assert "0 imported, 16 imported before, 4 not imported" in again.out
    assert len(offdiag("runs", "list", "--json").json["runs"]) == len(imported)
    for number, run_id in imported.items():
        _is_what_mlflow_has(number, found[number], sdk.get_run(run_id))


def _is_what_mlflow_has(number: int, outcome: dict[str, Any], run: sdk.Run) -> None:
    matrix = run.evaluation().confusion_matrix
    assert matrix.loc[["mel", "nv"], ["mel", "nv"]].to_numpy().tolist() == recorded.counts(number)
    columns = (outcome["true_column"], outcome["pred_column"])
    if number in recorded.MATRICES:
        assert (outcome["artifact"], columns) == ("eval/confusion_matrix.csv", (None, None))
    else:
        assert (outcome["artifact"], columns) == (
            "tables/predictions.json",
            ("label", "prediction"),
        )
    assert run.params == {
        "depth": str(number),
        "data/path": "x" * 300 if number == 3 else "s3://b: 'c' #1",
        "metrics.val/loss": number / 4 - 2,
        "metrics.gap": "nan",
        "metrics.limit": run.params["metrics.limit"],
    }
    assert run.params["metrics.limit"] in ("inf", sys.float_info.max)
    assert run.tags["team"] == "derm\nzürich"
    assert run.tags["mlflow.run_id"] == outcome["mlflow_run_id"]
    assert (run.name, run.dataset) == (outcome["name"], recorded.EXPERIMENT)
