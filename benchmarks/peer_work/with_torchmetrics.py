"""torchmetrics on the processor: its metrics of labels and of scores, and its matrix alone.

`scores 1e5, intervals` draws the area and average precision ten times, as its
bootstrap does unless told otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peer_work.turns import Answers, Work, take_turns
from torchmetrics import MetricCollection
from torchmetrics import classification as metrics
from torchmetrics.wrappers import BootStrapper

N_CLASSES = 10


def main(folder: Path) -> None:
    take_turns(
        ("torchmetrics", "torch", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
            "matrix 1e7": _counting(folder / "1e7.npy", validate=True),
            "matrix 1e7, no checks": _counting(folder / "1e7.npy", validate=False),
            "scores 1e5": _of_scores(folder / "scores 1e5.npy"),
            "scores 1e6": _of_scores(folder / "scores 1e6.npy"),
            "scores 1e5, intervals": _resampling(folder / "scores 1e5.npy"),
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


def _of_scores(path: Path) -> Work:
    def prepare() -> tuple[Any, ...]:
        return *_scores(path), MetricCollection(
            {
                "AUC": metrics.BinaryAUROC(),
                "AP": metrics.BinaryAveragePrecision(),
                "calibration error": metrics.BinaryCalibrationError(n_bins=15),
                "ROC": metrics.BinaryROC(),
                "precision and recall": metrics.BinaryPrecisionRecallCurve(),
            }
        )

    def do(given: tuple[Any, ...]) -> Answers:
        actual, scores, collection = given
        collection.update(scores, actual)
        found = collection.compute()
        return {name: float(found[name]) for name in ("AUC", "AP")}

    return Work(do, prepare)


def _resampling(path: Path) -> Work:
    def prepare() -> tuple[Any, ...]:
        kinds = (metrics.BinaryAUROC, metrics.BinaryAveragePrecision)
        wrapped = [BootStrapper(kind()) for kind in kinds]
        return *_scores(path), wrapped

    def do(given: tuple[Any, ...]) -> Answers:
        actual, scores, wrapped = given
        for each in wrapped:
            each.update(scores, actual)
            each.compute()
        return {}

    return Work(do, prepare)


def _scores(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    actual, scores = np.load(path)
    return torch.from_numpy(actual.astype(np.int64)), torch.from_numpy(scores.astype(np.float32))


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
