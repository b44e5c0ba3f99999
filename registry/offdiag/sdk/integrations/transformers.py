"""Hugging Face Transformers: log the predictions of a model whenever its Trainer evaluates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from transformers import TrainerCallback

from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import Scalar
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.labels import encode_pair
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.scores.forecasts import CLASS_AXIS
from offdiag.metrics.suite import evaluate_stack
from offdiag.sdk.integrations.outputs import (
    OF_SAMPLES,
    RunKeywords,
    class_names,
    decided,
    log_output,
)
from offdiag.sdk.logging import given_name
from offdiag.sdk.run import Run

_IGNORED = -100
"""The label that Transformers gives a token without a label."""
_TIME = "_runtime"
_EVALUATED, _PREDICTED = "eval", "test"
"""Transformers' names of a set that is evaluated or predicted, unless it has a name."""
_STEP = re.compile(r"checkpoint-(\d+)$")
"""The step in Transformers' name of a checkpoint."""
_METRICS = ("overall_accuracy", "balanced_accuracy", "macro_f1", "mcc")


class LogPredictions(TrainerCallback):  # type: ignore[misc]  # The library ships no types here.
    """A callback that logs a run at each evaluation and prediction of a Trainer, in `runs`.

    Callbacks are not given predictions, so pass the same object twice:
    `Trainer(…, compute_metrics=log, callbacks=[log])`. As `compute_metrics`, it returns those of
    accuracy, balanced accuracy, macro F1 and MCC that are defined, to select a model by.

    * `labels`: the names of the classes. Default: those of the model's `id2label`.
    * Other keywords are those of `log_run`.

    After a training with `load_best_model_at_end`, runs have the name and parameters of the step
    of the best model. Those of a hyperparameter search have the parameters of their trial and, if
    the search names it, its name.

    Tokens without a label are left out. If there are several processes, only the first one logs.
    Each set of `eval_dataset={"clean": …}` has runs and a dataset of its own, "…, clean"; so does
    a prediction on other labels than those of the evaluations, "…, test".
    """

    def __init__(self, **facts: Unpack[RunKeywords]) -> None:
        self._facts = facts
        self._name = given_name(facts)
        self._waiting: tuple[Any, Any] | None = None
        self._evaluated: Any = None
        self._is_callback = False
        self._best: int | None = None
        self.runs: list[Run] = []

    def __call__(self, prediction: Any) -> dict[str, float]:
        """Keep logits and labels for the next event, and return their metrics.

        Raises `InvalidInput` for outputs that are not one class for each sample or token. Warns if
        the Trainer does not have this object among its callbacks.
        """
        if not self._is_callback:
            note = (
                "LogPredictions is not among the callbacks of the Trainer, so nothing is logged. "
                "Give the same object as callbacks=[log], too."
            )
            warn_of([note], UserWarning)
        self._is_callback = False  # Until the next predictions, which may be another Trainer's.
        logits = prediction.predictions
        logits = np.asarray(logits[0] if isinstance(logits, tuple) else logits, dtype=np.float64)
        codes = np.asarray(prediction.label_ids)
        if logits.shape[:-1] != codes.shape or logits.shape[-1] == 1:
            raise InvalidInput(
                f"outputs of shape {logits.shape} beside labels of shape {codes.shape} are not "
                "one score for each class.",
                field="predictions",
                hint="This callback logs one class per sample or token; log sets of labels with "
                "log_run.",
            )
        codes = codes.reshape(-1)
        logits = logits.reshape(len(codes), -1)
        known = codes != _IGNORED
        self._waiting = logits[known], codes[known]
        pair = encode_pair(
            y_true=codes[known],
            y_pred=decided(logits[known]),
            labels=range(logits.shape[CLASS_AXIS]),
        )
        counts = count_pairs(pair.actual, pair.predicted, n_classes=len(pair.labels))
        found = evaluate_stack(counts, ordinal=False).aggregate
        values = {name: found[name].at().value for name in _METRICS}
        return {name: value for name, value in values.items() if value is not None}

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note that the predictions being made are those of a Trainer with this callback."""
        self._is_callback = True

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._best = None

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note the step of the weights, if the Trainer has loaded those of its best checkpoint."""
        if args.load_best_model_at_end and state.best_model_checkpoint is not None:
            found = _STEP.search(state.best_model_checkpoint)
            self._best = int(found[1]) if found else None

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Mapping[str, float], **kwargs: Any
    ) -> None:
        """Log the run of an evaluation, named after the step, and the set if that has a name."""
        part = f"step {self._place(state)['global_step']}"
        name_of_set = _name_of_set(metrics)
        if name_of_set is None and self._waiting is not None:
            _, self._evaluated = self._waiting
        self._log(state, kwargs["model"], part, name_of_set)

    def on_predict(
        self, args: Any, state: Any, control: Any, metrics: Mapping[str, float], **kwargs: Any
    ) -> None:
        """Log the run of a prediction, unless the samples had no labels and hence no loss.

        A Trainer names every predicted set "test", whether or not it is the set that it evaluates.
        """
        if self._waiting is None and not any(name.endswith("_loss") for name in metrics):
            return
        name_of_set = _name_of_set(metrics)
        if name_of_set == _PREDICTED and self._is_of_named_set():
            name_of_set = None
        self._log(state, kwargs["model"], "prediction", name_of_set)

    def _place(self, state: Any) -> dict[str, Any]:
        """The step and epoch of the weights."""
        if self._best is None:
            return {"global_step": state.global_step, "epoch": state.epoch}
        known = (entry["epoch"] for entry in state.log_history if entry.get("step") == self._best)
        return {"global_step": self._best, "epoch": next(known, None)}

    def _is_of_named_set(self) -> bool:
        """Whether the predicted set may be the dataset that was named."""
        if self._waiting is None or self._evaluated is None:
            return True
        return np.array_equal(self._waiting[1], self._evaluated)

    def _log(self, state: Any, model: Any, part: str, name_of_set: str | None) -> None:
        if self._waiting is None:
            raise Conflict(
                "this callback received no predictions.",
                field="compute_metrics",
                hint="Give the same object to Trainer as compute_metrics and among callbacks.",
            )
        logits, codes = self._waiting
        self._waiting = None
        if not state.is_world_process_zero:
            return  # Every process has gathered the predictions of all.
        facts = self._facts.copy()
        if name_of_set is not None:
            _require_no_samples(facts, name_of_set)
            part = f"{part}, {name_of_set}"
            facts["dataset"] = f"{facts['dataset']}, {name_of_set}"
        names = facts.get("labels")
        if names is None:
            numbered = {int(code): name for code, name in model.config.id2label.items()}
            names = [numbered[code] for code in sorted(numbered)]
        labels = class_names(names, ordinal=facts.get("ordinal", False))
        trial: dict[str, Scalar] = state.trial_params or {}
        if state.trial_name is not None:
            part = f"{state.trial_name}, {part}"
        facts["name"] = f"{self._name}, {part}"
        facts["model"] = facts.get("model") or type(model).__name__
        key = facts.get("client_key")
        of_trial = "".join(f"/{name}={value}" for name, value in trial.items())
        facts["client_key"] = None if key is None else f"{key}{of_trial}/{part}"
        run = log_output(
            facts,
            labels,
            y=codes,
            codes=decided(logits),
            scores=_softmax(logits),
            found={**trial, **self._place(state)},
        )
        self.runs.append(run)


def _name_of_set(metrics: Mapping[str, float]) -> str | None:
    """The Trainer's name of the set it measured: the prefix of all keys."""
    keys = (key.removesuffix(_TIME) for key in metrics if key.endswith(_TIME))
    prefix = next(keys, _EVALUATED)
    return None if prefix == _EVALUATED else prefix.removeprefix(f"{_EVALUATED}_")


def _require_no_samples(facts: RunKeywords, name_of_set: str) -> None:
    for field in OF_SAMPLES:
        if facts.get(field) is not None:
            raise InvalidInput(
                f"they name the samples of one set, and {name_of_set!r} is another.",
                field=field,
                hint="Leave them out, or evaluate a single set under the usual name.",
            )


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=CLASS_AXIS, keepdims=True))
    return np.asarray(powers / powers.sum(axis=CLASS_AXIS, keepdims=True))
