"""MLflow: its evaluation of predictions that are there, and its record of a run.

Probabilities it evaluates of a model only, so its turn with scores has one that gives those of
the sample. All write to a tracking store in an SQLite file. The record holds twelve metrics and
the matrix as a JSON artifact; predictions are not among what is recorded.
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
from sklearn.linear_model import LogisticRegression


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
                "scores 1e5": _of_scores(folder / "scores 1e5.npy"),
                "scores 1e6": _of_scores(folder / "scores 1e6.npy"),
                "record": Work(record, lambda: None),
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


def _of_scores(path: Path) -> Work:
    def prepare() -> tuple[str, pd.DataFrame]:
        actual, scores = np.load(path)
        frame = pd.DataFrame(
            {"logit": np.log(scores / (1 - scores)), "actual": actual.astype(int)}
        )
        model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])
        model.coef_, model.intercept_ = np.array([[1.0]]), np.array([0.0])
        return mlflow.sklearn.log_model(model, name="given").model_uri, frame

    def do(given: tuple[str, pd.DataFrame]) -> Answers:
        model, frame = given
        with mlflow.start_run():
            found = mlflow.models.evaluate(
                model,
                frame,
                targets="actual",
                model_type="classifier",
                evaluator_config={"log_model_explainability": False, "pos_label": 1},
            ).metrics
        return {"AUC": found["roc_auc"], "log loss": found["log_loss"]}

    return Work(do, prepare)


def record(_: Any) -> Answers:
    with mlflow.start_run():
        mlflow.log_metrics({f"metric_{number}": number / 12 for number in range(12)})
        mlflow.log_dict({"matrix": np.eye(10).tolist()}, "matrix.json")
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
