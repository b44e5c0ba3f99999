"""Evidently: its preset report of a classification, of labels alone and with scores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from evidently import (
    BinaryClassification,
    DataDefinition,
    Dataset,
    MulticlassClassification,
    Report,
)
from evidently.presets import ClassificationPreset
from peer_work.turns import Answers, Work, take_turns

_DEFINITION = DataDefinition(
    classification=[MulticlassClassification(target="actual", prediction_labels="predicted")],
    categorical_columns=["actual", "predicted"],
)

_WITH_SCORES = DataDefinition(
    classification=[
        BinaryClassification(
            target="actual", prediction_labels="predicted", prediction_probas="score", pos_label=1
        )
    ],
    categorical_columns=["actual", "predicted"],
    numerical_columns=["score"],
)


def main(folder: Path) -> None:
    take_turns(
        ("evidently", "pandas", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
            "scores 1e5": _of_scores(folder / "scores 1e5.npy"),
            "scores 1e6": _of_scores(folder / "scores 1e6.npy"),
        },
    )


def _evaluating(path: Path) -> Work:
    def prepare() -> pd.DataFrame:
        actual, predicted = np.load(path)
        return pd.DataFrame({"actual": actual, "predicted": predicted})

    def do(frame: pd.DataFrame) -> Answers:
        values = _reported(frame, _DEFINITION)
        return {"accuracy": values["Accuracy"], "macro F1": values["F1Score"]}

    return Work(do, prepare)


def _of_scores(path: Path) -> Work:
    def prepare() -> pd.DataFrame:
        actual, scores = np.load(path)
        labels = {"actual": actual.astype(int), "predicted": (scores >= 0.5).astype(int)}
        return pd.DataFrame({**labels, "score": scores})

    def do(frame: pd.DataFrame) -> Answers:
        values = _reported(frame, _WITH_SCORES)
        return {"AUC": values["RocAuc"], "log loss": values["LogLoss"]}

    return Work(do, prepare)


def _reported(frame: pd.DataFrame, definition: DataDefinition) -> dict[str, Any]:
    data = Dataset.from_pandas(frame, data_definition=definition)
    found = Report([ClassificationPreset()]).run(data, None).dict()["metrics"]
    return {metric["metric_name"].partition("(")[0]: metric["value"] for metric in found}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
