"""torchmetrics on the processor: a collection of its multiclass metrics, and its matrix alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peer_work.turns import Answers, Work, take_turns
from torchmetrics import MetricCollection
from torchmetrics import classification as metrics

N_CLASSES = 10


def main(folder: Path) -> None:
    take_turns(
        ("torchmetrics", "torch", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
            "matrix 1e7": _counting(folder / "1e7.npy", validate=True),
            "matrix 1e7, no checks": _counting(folder / "1e7.npy", validate=False),
        },
    )


def _evaluating(path: Path) -> Work:
    def prepare() -> tuple[Any, ...]:
        return *_tensors(path), MetricCollection(
            {
                "matrix": metrics.MulticlassConfusionMatrix(N_CLASSES),
                "accuracy": metrics.MulticlassAccuracy(N_CLASSES, average="micro"),
                "macro F1": metrics.MulticlassF1Score(N_CLASSES, average="macro"),
                "F1": metrics.MulticlassF1Score(N_CLASSES, average="none"),
                "precision": metrics.MulticlassPrecision(N_CLASSES, average="none"),
                "recall": metrics.MulticlassRecall(N_CLASSES, average="none"),
                "specificity": metrics.MulticlassSpecificity(N_CLASSES, average="none"),
                "MCC": metrics.MulticlassMatthewsCorrCoef(N_CLASSES),
                "kappa": metrics.MulticlassCohenKappa(N_CLASSES),
            }
        )

    def do(given: tuple[Any, ...]) -> Answers:
        actual, predicted, collection = given
        collection.update(predicted, actual)
        found = collection.compute()
        return {name: float(found[name]) for name in ("accuracy", "macro F1", "MCC", "kappa")}

    return Work(do, prepare)


def _counting(path: Path, *, validate: bool) -> Work:
    def prepare() -> tuple[Any, ...]:
        return *_tensors(path), metrics.MulticlassConfusionMatrix(
            N_CLASSES, validate_args=validate
        )

    def do(given: tuple[Any, ...]) -> Answers:
        actual, predicted, matrix = given
        counts = matrix(predicted, actual)
        return {"accuracy": float(counts.trace() / counts.sum())}

    return Work(do, prepare)


def _tensors(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    actual, predicted = np.load(path)
    return torch.from_numpy(actual), torch.from_numpy(predicted)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
