"""XGBoost: log the predictions of a booster for a data set when its training ends."""

from __future__ import annotations

import json
from typing import Unpack

import numpy as np
from xgboost import Booster, DMatrix
from xgboost.callback import TrainingCallback

from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.sdk.integrations.outputs import (
    RunKeywords,
    class_names,
    decided,
    log_output,
    score_columns,
)
from offdiag.sdk.run import Run


class LogPredictions(TrainingCallback):  # type: ignore[misc]  # The library ships no types here.
    """A callback that logs a run after training; `run` is that run, and None before.

    * `data`: the samples with their labels and weights.
    * `labels`: required; the names of the classes in the order of their numbers.
    * Other keywords are those of `log_run`. A `sample_weight` takes precedence over the weights of
      `data`; None leaves these out.

    After early stopping, the best round predicts. Objectives must be binary:logistic,
    multi:softprob or multi:softmax.
    """

    def __init__(self, data: DMatrix, **facts: Unpack[RunKeywords]) -> None:
        super().__init__()
        self._data = data
        self._facts = facts
        self._labels = class_names(facts.get("labels"), ordinal=facts.get("ordinal", False))
        self.run: Run | None = None

    def after_training(self, model: Booster) -> Booster:
        """Log the run. Raises `InvalidInput` for `xgboost.cv` and other objectives."""
        if not isinstance(model, Booster):
            raise InvalidInput(
                f"a {type(model).__name__} has several boosters.",
                field="model",
                hint="Train one with xgboost.train, or log folds of an XGBClassifier with "
                "offdiag.sklearn.log_cross_validation.",
            )
        best = model.attr("best_iteration")
        rounds = model.num_boosted_rounds() if best is None else int(best) + 1
        objective = json.loads(model.save_config())["learner"]["objective"]["name"]
        put_out = np.asarray(model.predict(self._data, iteration_range=(0, rounds)))
        if objective == "multi:softmax":
            scores, codes = None, put_out
        elif objective in ("binary:logistic", "multi:softprob"):
            scores = score_columns(put_out)
            codes = decided(scores)
        else:
            raise InvalidInput(
                f"the objective {objective} does not say which class is meant.",
                field="objective",
                hint="Use binary:logistic, multi:softprob or multi:softmax.",
            )
        found: dict[str, Scalar] = {"objective": objective, "rounds": rounds}
        weights = self._data.get_weight()
        facts: RunKeywords = self._facts
        if weights.size:
            facts = {"sample_weight": weights, **facts}
        self.run = log_output(
            facts,
            self._labels,
            y=self._data.get_label(),
            codes=codes,
            scores=scores,
            found=found,
        )
        return model
