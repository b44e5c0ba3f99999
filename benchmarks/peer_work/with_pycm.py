"""PyCM: all of its statistics from labels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pycm
from numpy.typing import NDArray
from peer_work.turns import Answers, Work, take_turns


def main(folder: Path) -> None:
    take_turns(
        ("pycm", "numpy"),
        {
            "evaluate 1e5": _evaluating(folder / "1e5.npy"),
            "evaluate 1e6": _evaluating(folder / "1e6.npy"),
        },
    )


def _evaluating(path: Path) -> Work:
    def do(columns: NDArray[np.int64]) -> Answers:
        matrix = pycm.ConfusionMatrix(*columns)
        _ = matrix.class_stat
        overall = matrix.overall_stat
        return {
            "accuracy": overall["Overall ACC"],
            "macro F1": overall["F1 Macro"],
            "MCC": overall["Overall MCC"],
            "kappa": overall["Kappa"],
        }

    return Work(do, lambda: np.load(path))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
