"""The same experiment as MLflow keeps it in a folder, in SQLite and on a server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from support.listeners import running

EXPERIMENT = "Lesions: 'derm'"
"""A name that YAML quotes."""


@dataclass(frozen=True)
class Recorded:
    """A run as MLflow recorded it."""

    run_id: str
    name: str
    artifacts: Mapping[str, str]
    status: str = "FINISHED"
    params: Mapping[str, str] = field(default_factory=lambda: {"depth": "3"})
    tags: Mapping[str, str] = field(default_factory=lambda: {"team": "derm"})
    loss: float = 0.25


def table(columns: list[str], *rows: list[object]) -> str:
    """What `mlflow.log_table` writes."""
    return json.dumps({"columns": columns, "data": rows})


TABLE = table(["image", "label", "prediction"], ["a", "mel", "mel"], ["b", "nv", "mel"])
RUNS = (
    Recorded("0" * 31 + "1", "forest", {"tables/predictions.json": TABLE, "plot.png": ""}),
    Recorded("0" * 31 + "2", "matrix", {"confusion_matrix.csv": "actual,mel,nv\nmel,5,1\nnv,2,8"}),
    Recorded("0" * 31 + "3", "sweep", {}),
    Recorded("0" * 31 + "4", "still running", {"predictions.json": TABLE}, status="RUNNING"),
)
_STATES = {"RUNNING": 1, "SCHEDULED": 2, "FINISHED": 3, "FAILED": 4}


def write_folder(
    root: Path, runs: tuple[Recorded, ...] = RUNS, *, experiment: str = EXPERIMENT
) -> str:
    """A file store below `root`. Returns its URI."""
    store = root / "mlruns"
    name = experiment.replace("'", "''")
    _write(store / "0" / "meta.yaml", "experiment_id: '0'\nlifecycle_stage: active\nname: Default")
    _write(
        store / "17" / "meta.yaml",
        f"experiment_id: '17'\nlifecycle_stage: active\nname: '{name}'\nworkspace: default\n",
    )
    _write(
        store / "18" / "meta.yaml",
        f"experiment_id: '18'\nlifecycle_stage: deleted\nname: '{name}'\n",
    )
    for number, run in enumerate(runs):
        folder = store / "17" / run.run_id
        meta = {
            "artifact_uri": f"file:///elsewhere/{run.run_id}/artifacts",
            "lifecycle_stage": "active",
            "run_id": run.run_id,
            "run_name": run.name,
            "start_time": 1_700_000_000_000 + number,
            "status": _STATES[run.status],
        }
        _write(folder / "meta.yaml", "".join(f"{key}: {text}\n" for key, text in meta.items()))
        for key, text in run.params.items():
            _write(folder / "params" / key, text)
        for key, text in {**run.tags, "mlflow.runName": run.name}.items():
            _write(folder / "tags" / key, text)
        _write(folder / "metrics" / "loss", f"1700000000000 {run.loss} 0\n")
        (folder / "artifacts").mkdir()
        for name, text in run.artifacts.items():
            _write(folder / "artifacts" / name, text)
    return str(store)


def write_database(root: Path, runs: tuple[Recorded, ...] = RUNS) -> str:
    """A database below `root`, and the artifacts of its runs. Returns its URI."""
    file = root / "mlflow.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(
            """
            CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);
            CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time INTEGER,
                lifecycle_stage TEXT, artifact_uri TEXT, experiment_id INTEGER);
            CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
            CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
            CREATE TABLE latest_metrics (key TEXT, value REAL, is_nan INTEGER, run_uuid TEXT);
            """
        )
        database.execute("INSERT INTO experiments VALUES (17, ?, 'active')", (EXPERIMENT,))
        for number, run in enumerate(runs):
            folder = root / "artifacts" / run.run_id
            folder.mkdir(parents=True)
            for name, text in run.artifacts.items():
                _write(folder / name, text)
            database.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, 'active', ?, 17)",
                (run.run_id, run.name, run.status, number, folder.as_uri()),
            )
            for place, entries in (("params", run.params), ("tags", run.tags)):
                for key, text in entries.items():
                    database.execute(
                        f"INSERT INTO {place} VALUES (?, ?, ?)", (key, text, run.run_id)
                    )
            database.execute(
                "INSERT INTO latest_metrics VALUES ('loss', ?, 0, ?)", (run.loss, run.run_id)
            )
        database.commit()
    return f"sqlite:///{file}"


@contextmanager
def serving(runs: tuple[Recorded, ...] = RUNS) -> Iterator[str]:
    """A tracking server for a while. Yields its URI."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            given = {key: values[0] for key, values in parse_qs(asked.query).items()}
            by_id = {run.run_id: run for run in runs}
            if asked.path.endswith("/experiments/get-by-name"):
                if given["experiment_name"] != EXPERIMENT:
                    self._send({"message": "Could not find experiment."}, 404)
                else:
                    self._send({"experiment": {"experiment_id": "17"}})
            elif asked.path.endswith("/artifacts/list"):
                self._send(_listing(by_id[given["run_id"]], given.get("path", "")))
            elif asked.path == "/get-artifact":
                self._send(by_id[given["run_id"]].artifacts[given["path"]])
            else:
                self._send("nothing", 404)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            first = int(body.get("page_token", 0))
            page: dict[str, object] = {"runs": [_document(run) for run in runs[first : first + 2]]}
            if first + 2 < len(runs):
                page["next_page_token"] = str(first + 2)
            self._send(page)

        def _send(self, content: object, status: int = 200) -> None:
            text = content if isinstance(content, str) else json.dumps(content)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with running(server) as url:
        yield url


def _listing(run: Recorded, folder: str) -> dict[str, object]:
    prefix = f"{folder}/" if folder else ""
    below = [name.removeprefix(prefix) for name in run.artifacts if name.startswith(prefix)]
    entries = {name.partition("/")[0]: "/" in name for name in below}
    return {
        "files": [{"path": prefix + name, "is_dir": is_dir} for name, is_dir in entries.items()]
    }


def _document(run: Recorded) -> dict[str, object]:
    pairs = {
        "params": [{"key": key, "value": text} for key, text in run.params.items()],
        "tags": [{"key": key, "value": text} for key, text in run.tags.items()],
        "metrics": [{"key": "loss", "value": run.loss}],
    }
    info = {"run_id": run.run_id, "run_name": run.name, "status": run.status}
    return {"info": info, "data": pairs}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
