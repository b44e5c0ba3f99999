"""Lightning: log the predictions of a module in each validation and test, batch by batch.

Each loader of several is a set of samples of its own: its predictions become a run of their own,
on a dataset of their own, both named after its number. Lightning gives the number of the loader
with a batch only if there are several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, Unpack

import lightning

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import aligned
from offdiag.sdk.integrations.outputs import (
    OF_SAMPLES,
    StreamKeywords,
    class_names,
    decided,
    found_params,
    named,
    score_columns,
)
from offdiag.sdk.logging import given_name, start_run
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.run import Run

_READ = ("y_true", "y_pred", "y_score", *OF_SAMPLES)
_LAST_EPOCH = "offdiag.last_validated_epoch"
"""The entry of a checkpoint by which a resumed training continues the names of its runs."""


class LogPredictions(lightning.Callback):  # type: ignore[misc]  # The library ships no types here.
    """A callback that logs a run for each validation epoch and for a test; they are in `runs`.

    * `labels`: required; the names of the classes in the order of their numbers.
    * Other keywords are those of `start_run`.

    `validation_step` and `test_step` must return a dict with

    * `y_true`: the numbers of the actual classes,
    * `y_score`: probabilities of shape (n, K), or of the second of two classes, (n,); or `y_pred`
      if there are none,
    * `sample_ids`, `slices`, `sample_weight`: optional.

    If there are several loaders, each has runs and a dataset of its own, "…, loader 1"; so does a
    test on other samples than the validations before it, "…, test". Further validations in an
    epoch, and those by `Trainer.validate`, are also named after their step. The parameters `epoch`
    and `global_step` are those of the weights that predicted; weights that neither this training
    nor its checkpoint made have none. Neither the check that Lightning makes before training nor a
    trial with `fast_dev_run` is logged.

    Raises `InvalidInput` for a step that returns something else, and for training in several
    processes, each of which sees only a part of the samples.
    """

    def __init__(self, **facts: Unpack[StreamKeywords]) -> None:
        super().__init__()
        self._facts = facts
        self._name = given_name(facts)
        self._labels = class_names(facts.get("labels"), ordinal=facts.get("ordinal", False))
        self._epoch: int | None = None
        self._weights: tuple[object, int, int] | None = None
        self._was_told = False
        self._validated: list[object] = []
        self._part: tuple[str, str, str] | None = None
        self._open: dict[int | None, OpenRun] = {}
        self.runs: list[Run] = []

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Refuse several processes before they train."""
        if trainer.world_size > 1 and stage != "predict":
            raise InvalidInput(
                f"{trainer.world_size} processes each see a part of the samples.",
                field="trainer",
                hint="Train without this callback and test with it on one device, or gather the "
                "outputs and call log_run.",
            )
        self._was_told = False

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *args: Any) -> None:
        """Note which weights the module has."""
        self._weights = pl_module, trainer.current_epoch, trainer.global_step

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        checkpoint[_LAST_EPOCH] = self._epoch

    def on_load_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        self._weights = pl_module, checkpoint["epoch"], checkpoint["global_step"]
        self._was_told = True
        self._epoch = checkpoint.get(_LAST_EPOCH)

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Open the runs of this epoch."""
        if trainer.sanity_checking or trainer.fast_dev_run:
            return
        part, place = "validation", self._place(trainer, pl_module)
        is_training = trainer.state.fn == "fit"
        if place:
            part = f"epoch {place['epoch']}"
            if not is_training or self._epoch == place["epoch"]:
                part += f", step {place['global_step']}"
        if is_training:
            self._epoch = trainer.current_epoch
        self._validated = _samples(trainer.val_dataloaders)
        self._start(f"{self._name}, {part}", part, self._facts["dataset"])

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int | None = None,
    ) -> None:
        """Log a batch to the run of its loader."""
        part = self._part
        if part is None:
            return
        given = self._read(outputs)
        if dataloader_idx not in self._open:
            self._open[dataloader_idx] = self._run(trainer, pl_module, *part, dataloader_idx)
        self._open[dataloader_idx].log(**given)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Finish the runs of this epoch."""
        self.runs += [run.finish() for run in self._open.values()]
        self._part, self._open = None, {}

    def on_test_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Open the runs of the test."""
        if trainer.fast_dev_run:
            return
        name, part, dataset = self._name, "test", self._facts["dataset"]
        tested = _samples(trainer.test_dataloaders)
        if self._validated and not _are_same(tested, self._validated):
            # A job may test both; each run needs a key of its own.
            name, dataset, part = f"{name}, {part}", f"{dataset}, {part}", f"other {part}"
        self._start(name, part, dataset)

    on_test_batch_end = on_validation_batch_end
    on_test_epoch_end = on_validation_epoch_end

    def _start(self, name: str, part: str, dataset: str) -> None:
        self._part, self._open = (name, part, dataset), {}

    def _place(self, trainer: Any, pl_module: Any) -> dict[str, int]:
        """The epoch and step of the weights of a module, if known."""
        if trainer.ckpt_path and not self._was_told:
            self._weights = None  # Callbacks are not shown a checkpoint of weights alone.
        module, epoch, step = self._weights or (None, 0, 0)
        return {"epoch": epoch, "global_step": step} if module is pl_module else {}

    def _run(
        self, trainer: Any, pl_module: Any, name: str, part: str, dataset: str, loader: int | None
    ) -> OpenRun:
        facts = self._facts.copy()
        if loader is not None:
            name, part = f"{name}, loader {loader}", f"{part}/loader {loader}"
            dataset = f"{dataset}, loader {loader}"
        facts["name"], facts["dataset"] = name, dataset
        facts["labels"] = self._labels
        facts["model"] = facts.get("model") or type(pl_module).__name__
        key = facts.get("client_key")
        facts["client_key"] = None if key is None else f"{key}/{part}"
        facts["params"] = found_params(self._place(trainer, pl_module), facts.get("params"))
        return start_run(**facts)

    def _read(self, outputs: Any) -> dict[str, Any]:
        if not isinstance(outputs, Mapping) or not {"y_score", "y_pred"} & outputs.keys():
            raise InvalidInput(
                "the step returned nothing to log.",
                field="outputs",
                hint="Return {'y_true': …, 'y_score': …}, or y_pred instead of y_score.",
            )
        found = aligned(**{name: outputs[name] for name in _READ if name in outputs})
        given: dict[str, Any] = {name: found[name] for name in OF_SAMPLES if name in found}
        codes = found.get("y_pred")
        if "y_score" in found:
            given["y_score"] = score_columns(found["y_score"])
            codes = decided(given["y_score"]) if codes is None else codes
        if "y_true" in found:
            given["y_true"] = named(found["y_true"], self._labels, field="y_true")
        return {"y_pred": named(codes, self._labels, field="y_pred"), **given}


def _samples(loaders: Any) -> list[object]:
    """The samples of each loader; Lightning passes a single loader without a list."""
    if isinstance(loaders, Mapping):
        loaders = list(loaders.values())
    each = loaders if isinstance(loaders, list | tuple) else [loaders]
    return [getattr(loader, "dataset", loader) for loader in each]


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))
