"""Keras: log the predictions of a model for a data set when its training ends."""

from __future__ import annotations

from typing import Any, Unpack

import keras
import numpy as np

from offdiag.domain.runs import Scalar
from offdiag.sdk.integrations.outputs import (
    RunKeywords,
    class_names,
    decided,
    in_one_order,
    log_output,
    score_columns,
)
from offdiag.sdk.run import Run


class LogPredictions(keras.callbacks.Callback):  # type: ignore[misc]  # The library ships no types here.
    """A callback that logs a run when `fit` ends; `run` is that run, and None before.

    * `x`, `y`: samples and their classes, by number or one-hot. Keras does not show its validation
      data to callbacks.
    * `labels`: required; the names of the classes in the order of their numbers.
    * Other keywords are those of `log_run`.

    The model must return probabilities: one for each class, or that of the second of two. Pass
    this callback after one that restores the best weights, such as `EarlyStopping`; before it, the
    last weights are logged.
    """

    def __init__(self, x: Any, y: Any, **facts: Unpack[RunKeywords]) -> None:
        super().__init__()
        self._x, self._y, self._facts = in_one_order(x, y, facts)
        self._labels = class_names(facts.get("labels"), ordinal=facts.get("ordinal", False))
        self._n_epochs = 0
        self.run: Run | None = None

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        self._n_epochs = epoch + 1

    def on_train_end(self, logs: object = None) -> None:
        """Log the run. Raises `InvalidInput` and `Conflict` as `log_run` does."""
        scores = score_columns(np.asarray(self.model.predict(self._x, verbose=0)))
        found: dict[str, Scalar] = {
            "epochs": self._n_epochs,
            "optimizer": type(self.model.optimizer).__name__,
        }
        self.run = log_output(
            self._facts, self._labels, y=self._y, codes=decided(scores), scores=scores, found=found
        )
