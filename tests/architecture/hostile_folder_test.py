"""A training folder may hold files called like our source roots; offdiag must not care."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOSTILE_NAMES = [
    "config",
    "registry",
    "web",
    "workers",
    "migrations",
    "tests",
    "settings",
    "store",
]


def run_in(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a training script as a user does: its folder comes first on the path."""
    script = folder / "train.py"
    script.write_text(program, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if "OFFDIAG" not in key}
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    for name in HOSTILE_NAMES:
        trap = f"raise SystemExit({name!r} + '.py of the training folder was imported')\n"
        (tmp_path / f"{name}.py").write_text(trap, encoding="utf-8")
    return tmp_path


def test_the_traps_work(hostile_folder: Path) -> None:
    done = run_in(hostile_folder, "import config\n")

    assert "config.py of the training folder was imported" in done.stderr


def test_a_run_is_logged_and_everything_is_imported_from_a_hostile_folder(
    hostile_folder: Path,
) -> None:
    program = (
        "import offdiag\n"
        "run = offdiag.log_run(y_true=['a', 'b', 'b'], y_pred=['a', 'b', 'a'],\n"
        "                      name='first', dataset='letters', project='traps')\n"
        "evaluation = run.evaluation(timeout=60)\n"
        "print(evaluation.aggregate['overall_accuracy'].value)\n"
        "import offdiag.cli, offdiag_web, offdiag_workers.loop\n"
    )

    done = run_in(hostile_folder, program)

    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(2 / 3)
    assert (hostile_folder / "offdiag.db").is_file()
