"""scikit-learn: a report, a matrix, MCC and kappa from labels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peer_work.turns import Answers, Work, take_turns
from sklearn.metrics import (
    classification_report,
    cohen_kappa_score,
    confusion_matrix,
    matthews_corrcoef,
)

Columns = NDArray[np.int64]


def main(folder: Path) -> None:
    take_turns(
        ("scikit-learn", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
            "matrix 1e7": _counting(folder / "1e7.npy"),
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


def _counting(path: Path) -> Work:
    def do(columns: Columns) -> Answers:
        counts = confusion_matrix(*columns)
        return {"accuracy": float(np.trace(counts) / counts.sum())}

    return Work(do, lambda: np.load(path))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
