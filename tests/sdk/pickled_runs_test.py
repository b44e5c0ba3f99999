"""Runs and comparisons can be pickled for other processes and copied, and hold no secrets then."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import offdiag
from offdiag import Run
from offdiag.sdk.remote.registry import RemoteRegistry
from offdiag.settings import ClientSettings, Settings


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.chdir(tmp_path)
    truth = ["ill", "well", "ill", "well"]
    return [
        offdiag.log_run(
            y_true=truth, y_pred=found, name="r", dataset="clinic", url="sqlite:///registry.db"
        )
        for found in (truth, ["ill", "well", "well", "well"])
    ]


def test_a_pickled_run_is_read_from_another_folder(
    runs: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    again = pickle.loads(pickle.dumps(runs))

    assert [run.evaluation().aggregate["overall_accuracy"].value for run in again] == [1.0, 0.75]


def test_copies_of_runs_and_comparisons_say_the_same(runs: list[Run]) -> None:
    compared = offdiag.compare(runs)

    for again in (copy.deepcopy(compared), pickle.loads(pickle.dumps(compared))):
        assert again.verdict == compared.verdict
        assert again.examples("only_a").equals(compared.examples("only_a"))
    assert copy.deepcopy({"best": runs[0]})["best"].id == runs[0].id


def test_a_pickled_run_of_a_server_has_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(client=ClientSettings(token="of-ana"))
    run = Run(RemoteRegistry.at("http://127.0.0.1:9", settings), "r_0123456789ab")
    monkeypatch.setenv("OFFDIAG_TOKEN", "of-bob")

    pickled = pickle.dumps(run)
    registry = pickle.loads(pickled)._registry

    assert b"of-ana" not in pickled
    assert registry.connection.url == "http://127.0.0.1:9"
    assert registry.connection.token == "of-bob"
