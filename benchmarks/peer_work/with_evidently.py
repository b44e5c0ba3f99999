"""Evidently: its preset report of a classification."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from evidently import DataDefinition, Dataset, MulticlassClassification, Report
from evidently.presets import ClassificationPreset
from peer_work.turns import Answers, Work, take_turns

_DEFINITION = DataDefinition(
    classification=[MulticlassClassification(target="actual", prediction_labels="predicted")],
    categorical_columns=["actual", "predicted"],
)


def main(folder: Path) -> None:
    take_turns(
        ("evidently", "pandas", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
        },
    )


def _evaluating(path: Path) -> Work:
    def prepare() -> pd.DataFrame:
        actual, predicted = np.load(path)
        return pd.DataFrame({"actual": actual, "predicted": predicted})

    def do(frame: pd.DataFrame) -> Answers:
        data = Dataset.from_pandas(frame, data_definition=_DEFINITION)
        found = Report([ClassificationPreset()]).run(data, None).dict()["metrics"]
        values = {metric["metric_name"].partition("(")[0]: metric["value"] for metric in found}
        return {"accuracy": values["Accuracy"], "macro F1": values["F1Score"]}

    return Work(do, prepare)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
