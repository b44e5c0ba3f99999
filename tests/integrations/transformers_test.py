"""What a Trainer shows its callbacks is logged once, or refused where it is of no classes."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import offdiag

transformers: Any = pytest.importorskip(
    "transformers", reason="transformers is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore::UserWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

LOGITS = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 1.0, 0.0]])


@pytest.fixture
def log(tmp_path: Path, migrated_file: Path) -> Any:
    """What is given to a Trainer twice."""
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    return offdiag.transformers.LogPredictions(
        name="tiny", dataset="toy", model="tiny", labels=["a", "b", "c"], url=url
    )


def state_of(step: int, **more: Any) -> Any:
    facts = {"epoch": 1.0, "is_world_process_zero": True, "trial_name": None, "trial_params": None}
    return SimpleNamespace(**{"global_step": step, **facts, **more})


def told(log: Any, found: SimpleNamespace) -> dict[str, float]:
    """What a Trainer with the callback does with predictions."""
    log.on_prediction_step(None, state_of(5), None)
    metrics: dict[str, float] = log(found)
    return metrics


def shown(log: Any, event: str, *, is_first: bool = True, **more: Any) -> None:
    state = state_of(5, is_world_process_zero=is_first)
    getattr(log, event)(None, state, None, model=None, **more)


def prediction(logits: object, labels: object) -> SimpleNamespace:
    return SimpleNamespace(predictions=logits, label_ids=np.array(labels))


def test_one_of_several_processes_logs_what_all_of_them_gathered(log: Any) -> None:
    for is_first in (False, True):
        told(log, prediction(LOGITS, [0, 2, 1]))
        shown(log, "on_evaluate", is_first=is_first, metrics={"eval_runtime": 0.1})

    (run,) = log.runs
    assert run.evaluation().confusion_matrix.to_numpy().tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 1, 0],
    ]


def test_evaluation_sets_by_name_are_runs_and_datasets_of_their_own(log: Any) -> None:
    """A Trainer with `eval_dataset={"clean": …, "noisy": …}` says which by the metrics' prefix."""
    for name, labels in (("clean", [0, 2, 1]), ("noisy", [0, 1, 1])):
        told(log, prediction(LOGITS, labels))
        metrics = {f"eval_{name}_loss": 0.5, f"eval_{name}_runtime": 0.1}
        shown(log, "on_evaluate", metrics=metrics)
    told(log, prediction(LOGITS, [0, 1, 1]))
    shown(log, "on_predict", metrics={"clean_loss": 0.5, "clean_runtime": 0.1})

    assert [(run.name, run.dataset) for run in log.runs] == [
        ("tiny, step 5, clean", "toy, clean"),
        ("tiny, step 5, noisy", "toy, noisy"),
        ("tiny, prediction, clean", "toy, clean"),
    ]


def test_evaluations_without_a_name_are_named_after_the_model(log: Any, tmp_path: Path) -> None:
    assert log.runs == []
    unnamed = offdiag.transformers.LogPredictions(
        dataset="toy",
        model="tiny",
        labels=["a", "b", "c"],
        url=f"sqlite:///{tmp_path / 'registry.db'}",
    )

    told(unnamed, prediction(LOGITS, [0, 2, 1]))
    shown(unnamed, "on_evaluate", metrics={"eval_runtime": 0.1})

    assert [run.name for run in unnamed.runs] == ["tiny, step 5"]


def predict(log: Any, labels: list[int], prefix: str = "test") -> tuple[str, str]:
    told(log, prediction(LOGITS, labels))
    shown(log, "on_predict", metrics={f"{prefix}_loss": 0.5, f"{prefix}_runtime": 0.1})
    return log.runs[-1].name, log.runs[-1].dataset


def test_a_prediction_is_on_the_dataset_of_its_samples(log: Any) -> None:
    """The set of the evaluations has the name that was given, and others have one of their own."""
    alone = predict(log, [2, 2, 1])
    told(log, prediction(LOGITS, [0, 2, 1]))
    shown(log, "on_evaluate", metrics={"eval_runtime": 0.1})
    evaluated, named = predict(log, [0, 2, 1]), predict(log, [0, 2, 1], prefix="eval")
    held_out, longer = predict(log, [0, 1, 1]), predict(log, [0, 2, -100])

    assert alone == evaluated == named == ("tiny, prediction", "toy")
    assert held_out == longer == ("tiny, prediction, test", "toy, test")


def test_facts_about_the_samples_of_one_set_are_refused_where_sets_have_names(
    migrated_file: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    log = offdiag.transformers.LogPredictions(
        name="tiny", dataset="toy", labels=["a", "b", "c"], sample_ids=[1, 2, 3], url=url
    )
    told(log, prediction(LOGITS, [0, 2, 1]))

    with pytest.raises(offdiag.InvalidInput, match=r"sample_ids: they name .* set, and 'clean'"):
        shown(log, "on_evaluate", metrics={"eval_clean_runtime": 0.1})


def test_a_prediction_without_labels_is_not_logged(log: Any) -> None:
    shown(log, "on_predict", metrics={"test_runtime": 0.1})

    assert log.runs == []


def test_a_prediction_that_only_the_callback_hears_of_is_refused(log: Any) -> None:
    with pytest.raises(offdiag.Conflict, match="compute_metrics: this callback received no pred"):
        shown(log, "on_predict", metrics={"test_loss": 0.1})


def test_labels_of_tokens_are_those_that_are_not_ignored(log: Any) -> None:
    metrics = told(log, prediction(LOGITS[np.newaxis], [[0, -100, 1]]))

    assert metrics["overall_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("logits", "labels"),
    [
        (LOGITS, np.zeros((3, 3))),  # Sets of labels.
        (LOGITS[:, :1], [0.0, 0.0, 0.0]),  # A number to be estimated.
        (np.zeros((1, 3, 2, 2)), np.zeros((1, 2, 2))),  # The classes of pixels, on another axis.
    ],
)
def test_what_is_not_one_class_of_each_sample_is_refused(
    log: Any, logits: np.ndarray, labels: object
) -> None:
    with pytest.raises(offdiag.InvalidInput, match=r"predictions: outputs of shape \(.*\) beside"):
        told(log, prediction(logits, labels))


def trainer_of(log: Any, folder: Path, **given: Any) -> Any:
    """Trains a model that is right after one step and wrong after two."""
    pytest.importorskip("accelerate")
    torch: Any = pytest.importorskip("torch")

    class Fades(torch.nn.Module):  # type: ignore[misc]  # The library may be absent.
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(1.0))

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:  # noqa: ARG002 - A Trainer gives it.
            return {"loss": self.weight, "logits": self.weight * x}

    samples = [{"x": row, "labels": code} for code, row in enumerate(torch.eye(3))]
    return transformers.Trainer(
        model=Fades(),
        args=transformers.TrainingArguments(
            output_dir=str(folder),
            max_steps=2,
            learning_rate=0.6,
            lr_scheduler_type="constant",
            eval_strategy="steps",
            eval_steps=1,
            logging_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            **given,
        ),
        train_dataset=samples,
        eval_dataset=samples,
        compute_metrics=log,
        callbacks=[log],
    )


def places(runs: list[offdiag.Run]) -> list[tuple[str, object, object]]:
    return [(run.name, run.params["global_step"], run.params["epoch"]) for run in runs]


def test_the_best_model_is_logged_as_that_of_its_step(migrated_file: Path, tmp_path: Path) -> None:
    """The Trainer has loaded the checkpoint of step 1 when it is at step 2."""
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    log = offdiag.transformers.LogPredictions(
        name="tiny", dataset="toy", labels=["a", "b", "c"], client_key="job", url=url
    )
    trainer = trainer_of(
        log,
        tmp_path / "checkpoints",
        save_strategy="steps",
        save_steps=1,
        load_best_model_at_end=True,
        metric_for_best_model="overall_accuracy",
    )

    trainer.train()
    trainer.evaluate()
    trainer.predict(trainer.eval_dataset)

    assert places(log.runs) == [
        ("tiny, step 1", 1, 1.0),
        ("tiny, step 2", 2, 2.0),
        ("tiny, step 1", 1, 1.0),
        ("tiny, prediction", 1, 1.0),
    ]
    assert log.runs[2].id == log.runs[0].id
    accuracies = [run.evaluation().aggregate["overall_accuracy"].value for run in log.runs]
    assert accuracies == [1, 0, 1, 1]


def test_trials_of_a_search_are_told_apart_by_their_parameters(
    migrated_file: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    log = offdiag.transformers.LogPredictions(
        name="tiny", dataset="toy", model="tiny", labels=["a", "b", "c"], client_key="k", url=url
    )
    for number, rate in enumerate((0.1, 0.2)):
        told(log, prediction(LOGITS[[0, 1 + number]], [0, 1]))
        state = state_of(5, trial_name=f"trial {number}", trial_params={"rate": rate})
        log.on_evaluate(None, state, None, {"eval_runtime": 0.1}, model=None)

    assert [(run.name, run.params["rate"]) for run in log.runs] == [
        ("tiny, trial 0, step 5", 0.1),
        ("tiny, trial 1, step 5", 0.2),
    ]


def test_classes_are_in_the_order_of_their_numbers_even_if_these_are_text(
    migrated_file: Path, tmp_path: Path
) -> None:
    """As of a JSON file that is given to a model as its `id2label`."""
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    log = offdiag.transformers.LogPredictions(name="tiny", dataset="toy", url=url)
    names = {str(code): f"class {code}" for code in range(12)}
    model = SimpleNamespace(config=SimpleNamespace(id2label=names))
    told(log, prediction(np.eye(12)[[2, 10]], [2, 10]))
    log.on_evaluate(None, state_of(5), None, {"eval_runtime": 0.1}, model=model)

    (run,) = log.runs
    assert run.examples(kind="right")["actual"].tolist() == ["class 2", "class 10"]


def test_an_object_that_is_no_callback_says_that_it_logs_nothing(log: Any) -> None:
    with pytest.warns(UserWarning, match="not among the callbacks of the Trainer, so nothing is"):
        log(prediction(LOGITS, [0, 2, 1]))
