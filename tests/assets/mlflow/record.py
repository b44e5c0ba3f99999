"""Record what MLflow itself writes for an experiment: `python tests/assets/mlflow/record.py`.

Needs mlflow-skinny, SQLAlchemy, Alembic and pandas. MLflow 3.17.2 wrote the files beside this
one: `database.json` has tables of its SQLite database and the artifacts, `folder.json` its file
store. Places on the machine are written as HERE.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

BESIDE = Path(__file__).parent
HERE = "HERE"
EXPERIMENT = "Lesions #2: derm, côté"
TRUTH = ["mel", "nv"] * 10
TABLES = ("experiments", "runs", "params", "tags", "latest_metrics", "alembic_version")
MATRIX = "actual,mel,nv\nmel,{0},1\nnv,2,8\n"


def predicted(number: int) -> list[str]:
    """Predictions of which the first `number` are nv."""
    return ["nv"] * number + TRUTH[number:]


def _log(client: Any, run_id: str, number: int) -> None:
    """Everything that is said of a run, and its artifacts by its number."""
    client.log_param(run_id, "depth", number)
    client.log_param(run_id, "data/path", "x" * 300 if number == 3 else "s3://b: 'c' #1")
    for step in range(3):
        client.log_metric(run_id, "val/loss", number / 4 - step, step=step)
    client.log_metric(run_id, "gap", float("nan"))
    client.log_metric(run_id, "limit", float("inf"))
    client.set_tag(run_id, "team", "derm\nzürich")
    match number:
        case 12 | 13 | 14:
            client.log_text(run_id, MATRIX.format(number), "eval/confusion_matrix.csv")
        case 15:
            client.log_text(run_id, ",mel,nv\nmel,5,1\nnv,2,8\n", "confusion_matrix.csv")
        case 16:
            columns = {"label": TRUTH, "target": TRUTH, "prediction": TRUTH}
            client.log_table(run_id, columns, "tables/results.json")
        case 17:
            client.log_text(run_id, "no table", "notes.txt")
        case _:
            table = {"image": [*range(20)], "label": TRUTH, "prediction": predicted(number)}
            client.log_table(run_id, table, "tables/predictions.json")


def record(uri: str, location: str | None) -> None:
    """An experiment of 20 runs and a deleted one."""
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.create_experiment(EXPERIMENT, artifact_location=location)
    for number in range(21):
        name = f"forest {number}: 'é'"
        run_id = client.create_run(experiment, run_name=name).info.run_id
        _log(client, run_id, number)
        if number != 18:
            client.set_terminated(run_id, "FAILED" if number == 19 else "FINISHED")
    client.delete_run(run_id)


def files(folder: Path, here: Path) -> dict[str, str]:
    """The files below a folder."""
    return {
        file.relative_to(here).as_posix(): file.read_text(encoding="utf-8").replace(
            str(here), HERE
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def tables(file: Path, here: Path) -> dict[str, Any]:
    """The tables that an import reads: the statement that made each, and its rows."""
    with closing(sqlite3.connect(file)) as database:
        return {
            name: {
                "made_by": database.execute(
                    "SELECT sql FROM sqlite_master WHERE name = ?", (name,)
                ).fetchone()[0],
                "rows": [
                    [_anywhere(value, here) for value in row]
                    for row in database.execute(f'SELECT * FROM "{name}"')
                ],
            }
            for name in TABLES
        }


def _anywhere(value: object, here: Path) -> object:
    return value.replace(str(here), HERE) if isinstance(value, str) else value


def main() -> int:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        os.chdir(here)
        database = here / "mlflow.db"
        record(f"sqlite:///{database}", (here / "artifacts").as_uri())
        record(str(here / "mlruns"), None)
        made = {
            "database": {
                "tables": tables(database, here),
                "files": files(here / "artifacts", here),
            },
            "folder": {"files": files(here / "mlruns", here)},
        }
    for name, content in made.items():
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (BESIDE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
