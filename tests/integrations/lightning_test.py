"""Each loader of a validation or a test is a set of samples of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import offdiag

lightning: Any = pytest.importorskip(
    "lightning", reason="lightning is not installed (pip install 'offdiag[integrations]')"
)
torch: Any = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore::UserWarning:lightning.*"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Always(lightning.LightningModule):  # type: ignore[misc]  # The library ships no types here.
    """Predicts what it is shown; the batches are the actual classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch: Any, _: int) -> Any:
        return self.layer(batch.float().reshape(-1, 1)).sum()

    # Lightning looks for the last argument by its name.
    def validation_step(self, batch: Any, _: int, dataloader_idx: int = 0) -> dict[str, Any]:  # noqa: ARG002
        return {"y_true": batch, "y_pred": batch}

    test_step = validation_step

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Weighs(Always):
    """Predicts the first class; the second one weighs three times as much."""

    def validation_step(self, batch: Any, _: int, dataloader_idx: int = 0) -> dict[str, Any]:  # noqa: ARG002
        return {"y_true": batch, "y_pred": batch * 0, "sample_weight": batch * 2 + 1}


def loader(*classes: int) -> Any:
    return torch.utils.data.DataLoader(torch.tensor(classes), batch_size=2)


@pytest.fixture
def url(tmp_path: Path, migrated_file: Path) -> str:
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"


def new_log(url: str) -> Any:
    """The callback of a job, which is the same in each attempt."""
    return offdiag.lightning.LogPredictions(
        name="tiny", dataset="toy", model="always", labels=["a", "b"], client_key="job 7", url=url
    )


@pytest.fixture
def log(url: str) -> Any:
    return new_log(url)


@pytest.fixture
def trainer(log: Any, tmp_path: Path) -> Any:
    return lightning.Trainer(
        max_epochs=1,
        callbacks=[log],
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )


def logged(log: Any) -> dict[tuple[str, str], list[int]]:
    """Class counts by the name and dataset of each run."""
    return {
        (run.name, run.dataset): run.evaluation().confusion_matrix.to_numpy().sum(axis=1).tolist()
        for run in log.runs
    }


@pytest.mark.parametrize("kind", [list, lambda sets: dict(zip("xy", sets, strict=True))])
def test_several_loaders_are_runs_and_datasets_of_their_own(
    log: Any, trainer: Any, kind: Any
) -> None:
    sets = [loader(0, 0, 1), loader(1, 1, 1, 1)]

    trainer.fit(Always(), loader(0, 1), kind(sets))
    trainer.test(Always(), kind(sets), verbose=False)

    assert logged(log) == {
        ("tiny, epoch 0, loader 0", "toy, loader 0"): [2, 1],
        ("tiny, epoch 0, loader 1", "toy, loader 1"): [0, 4],
        ("tiny, loader 0", "toy, loader 0"): [2, 1],
        ("tiny, loader 1", "toy, loader 1"): [0, 4],
    }


def test_epochs_without_a_name_share_the_one_of_their_training(
    trainer: Any, tmp_path: Path
) -> None:
    log = offdiag.lightning.LogPredictions(
        dataset="toy", labels=["a", "b"], url=f"sqlite:///{tmp_path / 'registry.db'}"
    )
    trainer.callbacks = [log]
    trainer.fit_loop.max_epochs = 2

    trainer.fit(Always(), loader(0, 1), [loader(0, 0, 1)])

    first, second = (run.name.rpartition(", ") for run in log.runs)
    assert (first[0], first[2], second[2]) == (second[0], "epoch 0", "epoch 1")
    assert first[0].startswith("run 2")


def test_validations_within_an_epoch_are_told_apart_by_their_step(log: Any, trainer: Any) -> None:
    trainer.val_check_interval = 0.5

    trainer.fit(Always(), loader(0, 1, 0, 1), [loader(0, 0, 1)])

    assert logged(log) == {
        ("tiny, epoch 0", "toy"): [2, 1],
        ("tiny, epoch 0, step 2", "toy"): [2, 1],
    }


def test_a_trial_of_one_batch_is_not_logged(log: Any, tmp_path: Path) -> None:
    trial = lightning.Trainer(
        fast_dev_run=True,
        callbacks=[log],
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )

    trial.fit(Always(), loader(0, 1), loader(0, 0, 1))
    trial.test(Always(), loader(0, 0, 1), verbose=False)

    assert log.runs == []


def test_one_loader_is_the_dataset_itself(log: Any, trainer: Any) -> None:
    trainer.fit(Always(), loader(0, 1), [loader(0, 0, 1)])

    assert logged(log) == {("tiny, epoch 0", "toy"): [2, 1]}


def test_a_test_of_other_samples_is_a_dataset_of_its_own(log: Any, trainer: Any) -> None:
    validated = loader(0, 0, 1)

    trainer.fit(Always(), loader(0, 1), validated)
    trainer.test(Always(), validated, verbose=False)
    trainer.test(Always(), loader(1, 1), verbose=False)

    assert logged(log) == {
        ("tiny, epoch 0", "toy"): [2, 1],
        ("tiny", "toy"): [2, 1],
        ("tiny, test", "toy, test"): [0, 2],
    }


def test_a_test_alone_is_of_the_dataset_itself(log: Any, trainer: Any) -> None:
    trainer.test(Always(), loader(1, 1), verbose=False)

    assert logged(log) == {("tiny", "toy"): [0, 2]}


def test_weights_that_a_step_returns_are_logged(log: Any, trainer: Any) -> None:
    trainer.validate(Weighs(), loader(0, 0, 1), verbose=False)

    (run,) = log.runs
    assert run.evaluation().aggregate["overall_accuracy"].value == pytest.approx(2 / 5)


class Stops(Always):
    """Ends the training in its second epoch, like a job that is killed."""

    def on_train_batch_start(self, *_: Any) -> None:
        if self.global_step == 7:
            raise RuntimeError("killed")


def saving(folder: Path) -> Any:
    """Stores a checkpoint after each step."""
    return lightning.pytorch.callbacks.ModelCheckpoint(
        folder, filename="{step}", every_n_train_steps=1, save_top_k=-1
    )


def saving_trainer(log: Any, folder: Path, **given: Any) -> Any:
    return lightning.Trainer(
        max_epochs=2,
        callbacks=[saving(folder), log],
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        **given,
    )


def of_step(epoch: int, step: int) -> dict[str, Any]:
    return {"epoch": epoch, "global_step": step}


def test_a_resumed_training_continues_the_names_of_its_runs(url: str, tmp_path: Path) -> None:
    training, validation = loader(*[0, 1] * 4), loader(0, 0, 1)
    killed, resumed = new_log(url), new_log(url)
    with pytest.raises(RuntimeError, match="killed"):
        saving_trainer(killed, tmp_path, val_check_interval=0.5).fit(Stops(), training, validation)
    saving_trainer(resumed, tmp_path, val_check_interval=0.5).fit(
        Always(), training, validation, ckpt_path=tmp_path / "step=7.ckpt"
    )

    assert [run.name for run in (*killed.runs, *resumed.runs)] == [
        "tiny, epoch 0",
        "tiny, epoch 0, step 4",
        "tiny, epoch 1",
        "tiny, epoch 1, step 8",
    ]


def test_a_run_has_the_step_of_the_weights_that_predicted(log: Any, tmp_path: Path) -> None:
    training, validation, model = loader(0, 1, 0, 1), loader(0, 0, 1), Always()
    trainer = saving_trainer(log, tmp_path)
    trainer.fit(model, training, validation)
    trainer.validate(model, validation, verbose=False)
    trainer.validate(model, validation, ckpt_path=tmp_path / "step=2.ckpt", verbose=False)
    trainer.test(model, validation, verbose=False)
    other = Always()
    trainer.validate(other, validation, verbose=False)

    assert [(run.name, run.params) for run in log.runs] == [
        ("tiny, epoch 0", of_step(0, 2)),
        ("tiny, epoch 1", of_step(1, 4)),
        ("tiny, epoch 1, step 4", of_step(1, 4)),
        ("tiny, epoch 0, step 2", of_step(0, 2)),
        ("tiny", of_step(0, 2)),  # The model has kept the weights of the checkpoint.
        ("tiny, validation", {}),
    ]


def test_weights_of_a_checkpoint_without_callbacks_have_no_step(log: Any, tmp_path: Path) -> None:
    training, validation, model = loader(0, 1, 0, 1), loader(0, 0, 1), Always()
    trainer = saving_trainer(log, tmp_path)
    trainer.fit(model, training, validation)
    trainer.save_checkpoint(tmp_path / "weights.ckpt", weights_only=True)

    trainer.test(model, validation, ckpt_path=tmp_path / "weights.ckpt", verbose=False)

    assert log.runs[-1].params == {}


def test_several_processes_are_refused_before_they_train(log: Any, tmp_path: Path) -> None:
    trainer = saving_trainer(log, tmp_path, devices=2, strategy="ddp")

    with pytest.raises(offdiag.InvalidInput, match="2 processes each see a part of the samples"):
        log.setup(trainer, Always(), "fit")
    log.setup(trainer, Always(), "predict")  # Nothing is logged.
