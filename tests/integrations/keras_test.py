"""What is logged of a Keras training that stops early: the weights that are restored before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offdiag

pytest.importorskip("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras: Any = pytest.importorskip(
    "keras", reason="keras is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

X = np.array([[0.0], [1.0]] * 10, dtype="float32")
Y = np.array([0, 1] * 10)


def test_restored_weights_are_logged_by_a_callback_that_follows(
    migrated_file: Path, tmp_path: Path
) -> None:
    """Classes are swapped in training, so the first epoch is the best one."""
    keras.utils.set_random_seed(1)
    layer = keras.layers.Dense(1, activation="sigmoid")
    model = keras.Sequential([keras.Input((1,)), layer])
    model.compile(optimizer=keras.optimizers.SGD(6.0), loss="binary_crossentropy")
    layer.set_weights([np.array([[9.0]]), np.array([-4.5])])
    stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
    logs = [
        offdiag.keras.LogPredictions(
            X,
            Y,
            name=name,
            dataset="d",
            labels=["no", "yes"],
            url=f"sqlite:///{shutil.copy(migrated_file, tmp_path / f'{name}.db')}",
        )
        for name in ("before", "after")
    ]

    model.fit(
        X,
        1 - Y,
        epochs=20,
        verbose=0,
        validation_data=(X, Y),
        callbacks=[logs[0], stop, logs[1]],
    )

    runs = [log.run for log in logs if log.run is not None]
    accuracies = [run.evaluation().aggregate["overall_accuracy"].value for run in runs]
    assert accuracies == [0.5, 1]
