"""An experiment of 20 runs as MLflow itself wrote it (tests/assets/mlflow), on this machine."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parents[1] / "assets" / "mlflow"
EXPERIMENT = "Lesions #2: derm, côté"
TRUTH = ["mel", "nv"] * 10
N_RUNS = 20
MATRICES = (12, 13, 14)
REFUSED = {
    15: "orientation",
    16: "'label' and 'target' of results.json could each hold the actual class",
    17: "no table of predictions and no confusion matrix among its artifacts. It has notes.txt",
    18: "it is not finished in MLflow",
}
"""Numbers of runs that cannot be imported, each with what is said of it."""


def counts(number: int) -> list[list[int]]:
    """The confusion matrix of a run, actual classes in rows: mel, nv."""
    if number in MATRICES:
        return [[number, 1], [2, 8]]
    n_missed = (number + 1) // 2
    return [[10 - n_missed, n_missed], [0, 10]]


def write_recorded_database(root: Path) -> str:
    """MLflow's database and its artifacts below `root`. Returns its URI."""
    recorded = _recorded("database", root)
    _write(root, recorded["files"])
    file = root / "mlflow.db"
    with closing(sqlite3.connect(file)) as database:
        for name, made in recorded["tables"].items():
            database.execute(made["made_by"])
            for row in made["rows"]:
                places = ", ".join("?" * len(row))
                database.execute(f'INSERT INTO "{name}" VALUES ({places})', row)
        database.commit()
    return f"sqlite:///{file}"


def write_recorded_folder(root: Path) -> str:
    """MLflow's file store below `root`. Returns its path."""
    _write(root, _recorded("folder", root)["files"])
    return str(root / "mlruns")


def _recorded(kind: str, root: Path) -> Any:
    text = (ASSETS / f"{kind}.json").read_text(encoding="utf-8")
    return json.loads(text.replace("HERE", str(root)))


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
