"""offdiag in a training job: metrics of arrays, logging a run, and a matrix alone.

`evaluate` counts and computes every metric, as the peers do; `scores` takes probabilities and
gives ROC, precision and recall, and calibration as curves, too. Intervals are computed where they
are asked for, so not here. `log` stores the predictions in SQLite, for a worker to evaluate.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peer_work.turns import Answers, Work, take_turns

import offdiag
from offdiag.metrics.pair_counts import count_pairs

Columns = NDArray[np.int64]
"""Actual and predicted classes, shape (2, n)."""
_KEYS = {
    "accuracy": "overall_accuracy",
    "macro F1": "macro_f1",
    "MCC": "mcc",
    "kappa": "cohen_kappa",
}
_OF_SCORES = {
    "AUC": "roc_auc",
    "AP": "average_precision",
    "log loss": "log_loss",
    "Brier score": "brier_half",
}


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        url = f"sqlite:///{place}/registry.db"
        cases = {}
        for size in ("1e5", "1e6"):
            sample = partial(np.load, folder / f"{size}.npy")
            cases[f"evaluate {size}"] = Work(_evaluate, sample)
            scores = partial(np.load, folder / f"scores {size}.npy")
            cases[f"scores {size}"] = Work(_evaluate_scores, scores)
            cases[f"log {size}"] = Work(partial(_log, url), sample)
        cases["matrix 1e7"] = _counting(folder / "1e7.npy")
        take_turns(("offdiag", "numpy", "sqlalchemy"), cases)


def _evaluate(columns: Columns) -> Answers:
    actual, predicted = columns
    aggregate = offdiag.evaluate_labels(y_true=actual, y_pred=predicted).aggregate
    values = {name: aggregate[key].value for name, key in _KEYS.items()}
    return {name: value for name, value in values.items() if value is not None}


def _evaluate_scores(columns: NDArray[np.float64]) -> Answers:
    found = offdiag.evaluate_scores(
        y_true=columns[0].astype(np.int64), y_score=columns[1], positive_label=1
    )
    found.roc_curve()
    found.precision_recall_curve()
    found.reliability_curve()
    values = {name: found.aggregate[key].value for name, key in _OF_SCORES.items()}
    return {name: value for name, value in values.items() if value is not None}


def _log(url: str, columns: Columns) -> Answers:
    actual, predicted = columns
    offdiag.log_run(
        y_true=actual, y_pred=predicted, name="run", dataset=f"{len(actual)} cases", url=url
    )
    return {}


def _counting(path: Path) -> Work:
    def codes() -> list[NDArray[np.uint8]]:
        # As they lie in the store.
        return [column.astype(np.uint8) for column in np.load(path)]

    def do(columns: list[NDArray[np.uint8]]) -> Answers:
        counts = count_pairs(*columns, n_classes=10)
        return {"accuracy": float(np.trace(counts) / counts.sum())}

    return Work(do, codes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
