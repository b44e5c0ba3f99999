"""The drill: back up with the command line while a process logs, restore, verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.cli.commands import run as run_command
from offdiag.services.verification.verify import read_ledger, verify
from offdiag.store.database import Database
from support.processes import started

pytestmark = pytest.mark.processes


def offdiag(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command line says."""
    capsys.readouterr()
    code = run_command(arguments)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def test_a_backup_that_was_made_while_a_process_logged_holds_all_that_was_acknowledged(
    database: Database,
    no_registry: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ledger, file = tmp_path / "ledger.txt", str(tmp_path / "backup.zip")

    with started("support.log_for_ever", database.url, str(ledger)) as writer:
        for _ in range(5):
            writer.wait_for_line()
        acknowledged = read_ledger(ledger)
        offdiag(capsys, "db", "backup", file, "--url", database.url)
        # It went on writing all the time.
        for _ in range(5):
            writer.wait_for_line()

    offdiag(capsys, "db", "restore", file, "--url", no_registry.url)
    found = verify(no_registry, ledger=acknowledged)
    assert found.is_clean
    assert len(acknowledged) >= 5
    assert found.n_runs >= len(acknowledged)
