"""scikit-learn: report, matrix, MCC and kappa of labels; areas, losses and curves of scores."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peer_work.turns import Answers, Work, take_turns
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    classification_report,
    cohen_kappa_score,
    confusion_matrix,
    log_loss,
    matthews_corrcoef,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

Columns = NDArray[np.int64]


def main(folder: Path) -> None:
    take_turns(
        ("scikit-learn", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
            "matrix 1e7": _counting(folder / "1e7.npy"),
            "scores 1e5": _of_scores(folder / "scores 1e5.npy"),
            "scores 1e6": _of_scores(folder / "scores 1e6.npy"),
        },
    )


def _evaluating(path: Path) -> Work:
    def do(columns: Columns) -> Answers:
        actual, predicted = columns
        confusion_matrix(actual, predicted)
        report = classification_report(actual, predicted, output_dict=True)
        return {
            "accuracy": report["accuracy"],
            "macro F1": report["macro avg"]["f1-score"],
            "MCC": float(matthews_corrcoef(actual, predicted)),
            "kappa": float(cohen_kappa_score(actual, predicted)),
        }

    return Work(do, lambda: np.load(path))


def _of_scores(path: Path) -> Work:
    def do(columns: NDArray[np.float64]) -> Answers:
        actual, scores = columns[0].astype(np.int64), columns[1]
        roc_curve(actual, scores)
        precision_recall_curve(actual, scores)
        calibration_curve(actual, scores, n_bins=15)
        return {
            "AUC": float(roc_auc_score(actual, scores)),
            "AP": float(average_precision_score(actual, scores)),
            "log loss": float(log_loss(actual, scores)),
            "Brier score": float(brier_score_loss(actual, scores)),
        }

    return Work(do, lambda: np.load(path))


def _counting(path: Path) -> Work:
    def do(columns: Columns) -> Answers:
        counts = confusion_matrix(*columns)
        return {"accuracy": float(np.trace(counts) / counts.sum())}

    return Work(do, lambda: np.load(path))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
