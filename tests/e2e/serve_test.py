"""`offdiag serve` and `offdiag worker` as processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.request import urlopen

import offdiag
from support.optional import present
from support.processes import clean_environment, running

OFFDIAG = [sys.executable, "-c", "from offdiag.cli import main; main()"]


def offdiag_in(
    folder: Path, *arguments: str, is_cold: bool = False
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A command that stays, until the block ends it or kills it."""
    return running([*OFFDIAG, *arguments], cwd=folder, env=clean_environment(), is_cold=is_cold)


def first_match(pattern: str, lines: Iterator[str]) -> str:
    return next(found.group() for line in lines if (found := re.search(pattern, line)))


def test_serve_evaluates_what_is_logged_and_stops_on_a_signal(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'offdiag.db'}"
    with offdiag_in(tmp_path, "serve", "--port", "0", is_cold=True) as process:
        address = first_match(r"http://\S+/", present(process.stdout))

        run = offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], name="n", dataset="d", url=url)
        run.evaluation(timeout=60)
        with urlopen(f"{address}runs") as response:  # a loopback address of our own process
            page = response.read().decode()
        process.send_signal(signal.SIGTERM)
        errors = present(process.stderr).read()
        code = process.wait(timeout=60)

    assert run.id in page
    assert code == 0, errors
    assert "Traceback" not in errors


def test_serve_without_worker_leaves_runs_to_a_worker_elsewhere(tmp_path: Path) -> None:
    with (
        offdiag_in(tmp_path, "serve", "--port", "0", "--no-worker") as server,
        offdiag_in(tmp_path, "worker") as worker,
    ):
        address = first_match(r"http://\S+/", present(server.stdout))
        first_match("worker_started", present(worker.stderr))

        url = f"sqlite:///{tmp_path / 'offdiag.db'}"
        run = offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], name="n", dataset="d", url=url)
        states = [_state(address, run.id)]
        while states[-1] == "finished" and len(states) < 600:
            time.sleep(0.1)
            states.append(_state(address, run.id))
        worker.send_signal(signal.SIGTERM)
        ended = present(worker.stderr).read()
        server.send_signal(signal.SIGINT)
        codes = [process.wait(timeout=60) for process in (worker, server)]

    assert states[-1] == "evaluated"
    assert codes == [0, 0]
    assert "event=worker_stopped done=1 failed=0" in ended


def _state(address: str, run_id: str) -> str:
    """What the server says about a run; to ask the SDK would evaluate it."""
    with urlopen(f"{address}runs/{run_id}.json") as response:  # a loopback address of our own
        return str(json.load(response)["state"])
