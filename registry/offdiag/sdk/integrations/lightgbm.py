"""LightGBM: log the predictions of a booster for a data set after its last round."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from lightgbm import Booster
from lightgbm.callback import CallbackEnv

from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.sdk.integrations.outputs import (
    RunKeywords,
    class_names,
    decided,
    in_one_order,
    log_output,
    score_columns,
)
from offdiag.sdk.run import Run

_OBJECTIVES = ("binary", "multiclass", "softmax", "multiclassova", "multiclass_ova", "ova", "ovr")


class LogPredictions:
    """A callback that logs a run after the last round; `run` is that run, and None before.

    * `X`, `y`: the samples and the numbers of their classes.
    * `labels`: required; the names of the classes in the order of their numbers.
    * Other keywords are those of `log_run`.

    With early stopping, LightGBM tells callbacks neither when training ends nor which round is the
    best: pass the booster to `log`.
    """

    before_iteration = False

    def __init__(self, X: Any, y: Any, **facts: Unpack[RunKeywords]) -> None:
        self._X, self._y, self._facts = in_one_order(X, y, facts)
        self._labels = class_names(facts.get("labels"), ordinal=facts.get("ordinal", False))
        self.run: Run | None = None
        # After early stopping, which ends the last round. Only the instance's order is read.
        self.order = 40

    def __call__(self, env: CallbackEnv) -> None:
        if env.iteration + 1 == env.end_iteration:
            self._log(env.model, env.params, env.iteration + 1)

    def log(self, booster: Booster) -> Run:
        """The run of a trained booster, logged now if training could stop early.

        Raises `InvalidInput` for a booster that is not a classifier.
        """
        return self.run or self._log(booster, booster.params, booster.current_iteration())

    def _log(self, booster: Any, params: dict[str, Any], rounds: int) -> Run:
        objective = params.get("objective")
        if not isinstance(booster, Booster) or objective not in _OBJECTIVES:
            raise InvalidInput(
                f"a {type(booster).__name__} with objective {objective!r} does not classify.",
                field="objective",
                hint="Train one booster with binary or multiclass.",
            )
        best = booster.best_iteration if booster.best_iteration > 0 else rounds
        scores = score_columns(np.asarray(booster.predict(self._X, num_iteration=best)))
        found: dict[str, Scalar] = {"objective": objective, "rounds": best}
        self.run = log_output(
            self._facts, self._labels, y=self._y, codes=decided(scores), scores=scores, found=found
        )
        return self.run
