"""MLflow: its evaluation of predictions that are there, and its record of a run.

Both write to a tracking store in an SQLite file. The record holds twelve metrics and the matrix
as a JSON artifact; predictions are not among what is recorded.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from peer_work.turns import Answers, Work, take_turns


def main(folder: Path) -> None:
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as store:
        mlflow.set_tracking_uri(f"sqlite:///{store}/mlflow.db")
        mlflow.create_experiment("bench", artifact_location=f"{store}/artifacts")
        mlflow.set_experiment("bench")
        take_turns(
            ("mlflow", "scikit-learn", "pandas", "numpy"),
            {
                "evaluate 1e5": _evaluating(folder / "1e5.npy"),
                "evaluate 1e6": _evaluating(folder / "1e6.npy"),
                "record": Work(_record, lambda: None),
            },
        )


def _evaluating(path: Path) -> Work:
    def prepare() -> pd.DataFrame:
        actual, predicted = np.load(path)
        return pd.DataFrame({"actual": actual, "predicted": predicted})

    def do(frame: pd.DataFrame) -> Answers:
        with mlflow.start_run():
            result = mlflow.models.evaluate(
                data=frame, targets="actual", predictions="predicted", model_type="classifier"
            )
        # Its "f1_score" is weighted by support, which nothing else here computes.
        return {"accuracy": result.metrics["accuracy_score"]}

    return Work(do, prepare)


def _record(_: Any) -> Answers:
    with mlflow.start_run():
        mlflow.log_metrics({f"metric_{number}": number / 12 for number in range(12)})
        mlflow.log_dict({"matrix": np.eye(10).tolist()}, "matrix.json")
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
