"""`offdiag watch` takes the files of a folder until it is told to stop."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

import offdiag
from support.processes import running

pytestmark = pytest.mark.processes


def test_files_become_runs_until_a_signal(tmp_path: Path, migrated_file: Path) -> None:
    shutil.copy(migrated_file, tmp_path / "registry.db")
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    folder = tmp_path / "results"
    folder.mkdir()
    rows = "y_true,guess,p\nill,ill,0.9\nwell,ill,0.6\n"
    (folder / "good.csv").write_text(rows)
    (folder / "bad.csv").write_text("y_true\nill\n")
    command = (
        *(sys.executable, "-c", "from offdiag.cli import main; main()"),
        *("watch", str(folder), "--dataset", "clinic"),
        *("--pred", "guess", "--score", "p", "--positive", "ill", "--url", url),
    )

    with running(command) as process:
        assert process.stdout is not None
        told = sorted(process.stdout.readline() for _ in range(2))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0

    assert told[0].startswith("bad.csv: ")
    assert "'guess'" in told[0]
    assert "'guess'" in (folder / "bad.csv.error.txt").read_text()
    (run,) = offdiag.search_runs(url=url).itertuples()
    assert told[1] == f"good.csv: {run.run_id} is logged\n"
    assert (run.name, run.dataset) == ("good", "clinic")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_command_ends_at_a_signal_with_the_code_in_the_documentation(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    command = (
        *(sys.executable, "-c", "from offdiag.cli import main; main()"),
        *("evaluate", str(tmp_path / "slow.csv")),
    )

    with running(command, is_cold=True) as process, (tmp_path / "slow.csv").open("wb"):
        process.send_signal(number)  # It waits for the first line.
        assert process.wait(timeout=20) == code
