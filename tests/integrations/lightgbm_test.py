"""What is logged of a booster of LightGBM that stops early: its best round."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import offdiag

lightgbm: Any = pytest.importorskip(
    "lightgbm", reason="lightgbm is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = pytest.mark.integrations

DATA = load_breast_cancer()
X, Y = DATA.data[:120:2], DATA.target[:120:2]
HELD_X, HELD_Y = DATA.data[1::2], DATA.target[1::2]
OVERFITTING = {
    "objective": "binary",
    "learning_rate": 0.9,
    "min_data_in_leaf": 2,
    "num_threads": 1,
    "verbosity": -1,
}


@pytest.mark.parametrize("patience", [3, 50])  # 50 rounds are never reached.
def test_the_best_round_is_logged_wherever_training_ends(
    migrated_file: Path, tmp_path: Path, patience: int
) -> None:
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    log = offdiag.lightgbm.LogPredictions(
        HELD_X, HELD_Y, name="booster", dataset="tumours", labels=DATA.target_names, url=url
    )
    booster = lightgbm.train(
        OVERFITTING,
        lightgbm.Dataset(X, Y),
        20,
        valid_sets=[lightgbm.Dataset(HELD_X, HELD_Y)],
        callbacks=[lightgbm.early_stopping(patience, verbose=False), log],
    )
    run = log.log(booster)

    (rounds,) = offdiag.search_runs(url=url)["params.rounds"]
    assert rounds == booster.best_iteration < 20
    told = np.mean((booster.predict(HELD_X) > 0.5) == HELD_Y)  # Also by the best round.
    assert run.evaluation().aggregate["overall_accuracy"].value == told
    assert log.log(booster) is run
