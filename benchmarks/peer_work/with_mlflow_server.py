"""MLflow over HTTP: a job records a run at `mlflow server` on the same machine.

Twelve metrics and the matrix as a JSON artifact, which the server stores; no predictions. Its
runners of jobs, which nothing here needs, are switched off.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError

import mlflow
from peer_work.turns import Work, take_turns
from peer_work.with_mlflow import record

_START_WITHIN_S = 120.0


def main(_: Path) -> None:
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as store, _server(Path(store)) as url:
        mlflow.set_tracking_uri(url)
        mlflow.set_experiment("bench")
        take_turns(("mlflow", "uvicorn"), {"record": Work(record, lambda: None)})


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1"]
    places = [
        *("--backend-store-uri", f"sqlite:///{folder}/mlflow.db"),
        *("--artifacts-destination", f"{folder}/artifacts"),
    ]
    with subprocess.Popen(
        [*command, *places],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
    ) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/health")
            yield url
        finally:
            # It ends its own processes, or is ended.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


def _wait_for(url: str) -> None:
    give_up_at = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < give_up_at:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    message = "mlflow server did not start."
    raise RuntimeError(message)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
