"""The examples run as they are, and log what they say."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import offdiag

FOLDER = Path(__file__).parents[2] / "examples"
NEEDS = {
    "log_keras": ("keras", "torch"),
    "log_lightgbm": ("lightgbm",),
    "log_lightning": ("lightning",),
    "log_sklearn": ("sklearn",),
    "log_torch_loop": ("torch",),
    "log_transformers": ("transformers", "accelerate", "torch"),
    "log_xgboost": ("xgboost",),
}

pytestmark = [
    pytest.mark.integrations,
    # What these libraries say of each other; none of it is about a call that is made here.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated"),
    pytest.mark.filterwarnings("ignore::UserWarning:lightning.*"),
    pytest.mark.filterwarnings("ignore:Starting from v1.9.0, `tensorboardX`"),
]


@pytest.fixture
def registry(tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty registry that an example logs to."""
    shutil.copy(migrated_file, tmp_path / "registry.db")
    monkeypatch.setenv("OFFDIAG_URL", f"sqlite:///{tmp_path / 'registry.db'}")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # Small models are slower on more of them.
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_example(name: str) -> dict[str, Any]:
    for library in NEEDS[name]:
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed (pip install 'offdiag[integrations]')")
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def macro_f1(runs: Sequence[offdiag.Run]) -> list[float]:
    values = [run.evaluation().aggregate["macro_f1"].value for run in runs]
    assert None not in values
    return [value for value in values if value is not None]


def test_every_example_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == NEEDS.keys()


def test_scikit_learn(registry: Path) -> None:
    made = run_example("log_sklearn")

    assert made["run"].evaluation().matrix.total == len(made["test_y"])
    assert macro_f1([made["run"]])[0] > 0.9
    folds = made["folds"]
    assert folds.evaluation().matrix.total == 178
    assert sum(folds.evaluation(slice=f"fold={n}").matrix.total for n in range(1, 6)) == 178


def test_a_plain_loop_of_pytorch(registry: Path) -> None:
    run_example("log_torch_loop")

    found = offdiag.search_runs(order_by=["attributes.created_at"])
    assert found["name"].tolist() == [f"two layers, epoch {epoch}" for epoch in range(3)]
    assert found["metrics.macro_f1"].iloc[-1] > 0.85
    offdiag.compare(found["run_id"].tolist()[:2])  # Batches of the same samples pair.


def test_lightning(registry: Path) -> None:
    log = run_example("log_lightning")["log"]

    found = offdiag.search_runs(order_by=["attributes.created_at"])
    assert found["name"].tolist() == ["two layers, epoch 0", "two layers, epoch 1", "two layers"]
    assert found["params.epoch"].tolist()[:2] == [0, 1]
    assert macro_f1(log.runs)[1] > 0.85
    assert log.runs[0].evaluation().matrix.total == 397


def test_transformers(registry: Path) -> None:
    made = run_example("log_transformers")

    first, last = made["log"].runs
    assert first.evaluation().matrix.labels.names == tuple(f"digit {n}" for n in range(10))
    logged = made["trainer"].state.log_history
    told = [entry["eval_overall_accuracy"] for entry in logged if "eval_loss" in entry]
    stored = [run.evaluation().aggregate["overall_accuracy"].value for run in (first, last)]
    assert told == stored


def test_keras(registry: Path) -> None:
    made = run_example("log_keras")

    accuracy = made["run"].evaluation().aggregate["overall_accuracy"].value
    told = made["model"].predict(made["pixels"][1_400:], verbose=0).argmax(-1)
    assert accuracy == (told == made["digits"].target[1_400:]).mean()
    assert accuracy > 0.8


def test_xgboost(registry: Path) -> None:
    made = run_example("log_xgboost")

    assert made["run"].evaluation().matrix.labels.names == ("malignant", "benign")
    (rounds,) = offdiag.search_runs()["params.rounds"]
    assert rounds < 40  # The best one, not the last.
    assert macro_f1([made["run"]])[0] > 0.9


def test_lightgbm(registry: Path) -> None:
    made = run_example("log_lightgbm")

    assert made["run"].id == made["log"].run.id
    told = made["booster"].predict(made["test_X"]).argmax(-1)
    right = (told == made["test_y"]).mean()
    assert made["run"].evaluation().aggregate["overall_accuracy"].value == right
