"""Lightning: log what a module predicts in each validation and in a test, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import lightning

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import aligned
from offdiag.sdk.integrations.outputs import (
    StreamKeywords,
    class_names,
    decided,
    found_params,
    named,
    score_columns,
)
from offdiag.sdk.logging import start_run
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.run import Run

_READ = ("y_true", "y_pred", "y_score", "sample_ids", "slices")


class LogPredictions(lightning.Callback):  # type: ignore[misc]  # The library ships no types here.
    """Logs a run for each validation epoch, and one for a test; `runs` are those so far.

    `validation_step` and `test_step` return a dict with `y_true`, the numbers of the actual
    classes, and `y_score`, probabilities of shape (n, K) or those of the second of two classes,
    (n,), or `y_pred` where there are none; `sample_ids` and `slices` may be there as well.
    `labels=` names the classes in the order of their numbers; the other keywords are those of
    `start_run`. The check that Lightning makes before training is left out. Raises
    `InvalidInput` for a step that returns something else, and for training in several
    processes, each of which sees a part of the samples.
    """

    def __init__(self, **facts: Unpack[StreamKeywords]) -> None:
        super().__init__()
        self._facts = facts
        self._labels = class_names(facts.get("labels"), ordinal=facts.get("ordinal", False))
        self._open: OpenRun | None = None
        self.runs: list[Run] = []

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Open the run of this epoch."""
        if not trainer.sanity_checking:
            name = f"{self._facts['name']}, epoch {trainer.current_epoch}"
            self._start(trainer, pl_module, name, f"epoch {trainer.current_epoch}")

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self._log(outputs)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Finish it."""
        self._finish()

    def on_test_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Open the run of the test."""
        self._start(trainer, pl_module, self._facts["name"], "test")

    on_test_batch_end = on_validation_batch_end
    on_test_epoch_end = on_validation_epoch_end

    def _start(self, trainer: Any, pl_module: Any, name: str, part: str) -> None:
        if trainer.world_size > 1:
            raise InvalidInput(
                f"{trainer.world_size} processes each see a part of the samples.",
                field="trainer",
                hint="Validate and test on one device, or gather the outputs and call log_run.",
            )
        facts = self._facts.copy()
        facts["name"] = name
        facts["labels"] = self._labels
        facts["model"] = facts.get("model") or type(pl_module).__name__
        key = facts.get("client_key")
        facts["client_key"] = None if key is None else f"{key}/{part}"
        found = {"epoch": trainer.current_epoch, "global_step": trainer.global_step}
        facts["params"] = found_params(found, facts.get("params"))
        self._open = start_run(**facts)

    def _log(self, outputs: Any) -> None:
        if self._open is None:
            return
        if not isinstance(outputs, Mapping) or not {"y_score", "y_pred"} & outputs.keys():
            raise InvalidInput(
                "the step returned nothing to log.",
                field="outputs",
                hint="Return {'y_true': …, 'y_score': …}, or y_pred instead of y_score.",
            )
        found = aligned(**{name: outputs[name] for name in _READ if name in outputs})
        given: dict[str, Any] = {
            name: found[name] for name in ("sample_ids", "slices") if name in found
        }
        codes = found.get("y_pred")
        if "y_score" in found:
            given["y_score"] = score_columns(found["y_score"])
            codes = decided(given["y_score"]) if codes is None else codes
        if "y_true" in found:
            given["y_true"] = named(found["y_true"], self._labels, field="y_true")
        self._open.log(y_pred=named(codes, self._labels, field="y_pred"), **given)

    def _finish(self) -> None:
        if self._open is not None:
            self.runs.append(self._open.finish())
            self._open = None
