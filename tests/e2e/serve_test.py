"""`offdiag serve` and `offdiag worker` as processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.request import urlopen

import pytest

import offdiag
from support.processes import running

OFFDIAG = [sys.executable, "-c", "from offdiag.cli import main; main()"]


def environment() -> Mapping[str, str]:
    return {key: text for key, text in os.environ.items() if not key.startswith("OFFDIAG_")}


def offdiag_in(folder: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A command that stays, until the block ends it or kills it."""
    return running([*OFFDIAG, *arguments], cwd=folder, env=environment())


def first_match(pattern: str, lines: Iterator[str]) -> str:
    return next(found.group() for line in lines if (found := re.search(pattern, line)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_evaluates_what_is_logged_and_stops_on_a_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    url = f"sqlite:///{tmp_path / 'offdiag.db'}"
    with offdiag_in(tmp_path, "serve", "--port", "0") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = first_match(r"http://\S+/", process.stdout)

        run = offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], name="n", dataset="d", url=url)
        run.evaluation(timeout=60)
        with urlopen(f"{address}runs") as response:  # a loopback address of our own process
            page = response.read().decode()
        process.send_signal(number)
        errors = process.stderr.read()
        code = process.wait(timeout=60)

    assert run.id in page
    assert code == 0, errors
    assert "Traceback" not in errors


def test_serve_without_worker_leaves_runs_to_a_worker_elsewhere(tmp_path: Path) -> None:
    with (
        offdiag_in(tmp_path, "serve", "--port", "0", "--no-worker") as server,
        offdiag_in(tmp_path, "worker") as worker,
    ):
        assert server.stdout is not None
        assert worker.stderr is not None
        first_match(r"http://\S+/", server.stdout)
        first_match("worker_started", worker.stderr)

        offdiag.log_run(
            y_true=["a", "b"],
            y_pred=["a", "a"],
            name="n",
            dataset="d",
            url=f"sqlite:///{tmp_path / 'offdiag.db'}",
        )
        states = _states_until_evaluated(tmp_path)
        worker.send_signal(signal.SIGTERM)
        ended = worker.stderr.read()
        code = worker.wait(timeout=60)

    assert states == ["evaluated"]
    assert code == 0
    assert "event=worker_stopped done=1 failed=0" in ended


def _states_until_evaluated(folder: Path) -> list[str]:
    """States of all runs, asked for through the command line until none waits."""
    for _ in range(60):
        done = subprocess.run(
            [*OFFDIAG, "runs", "list", "--json"],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        states = [run["state"] for run in json.loads(done.stdout)["runs"]]
        if "finished" not in states:
            break
    return states
