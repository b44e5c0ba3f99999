"""SIGTERM at every line that the loop of a program comes by: each ends, whatever it was at."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from support.quick_starts import run_quickly

PROGRAM = Path(__file__).parent.parent / "support" / "signalled_everywhere.py"

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(
    ("loop", "function"),
    [
        ("watch", "Condition._is_owned"),
        ("worker", "LocalNotifier.wait"),
        ("serve", "Listening.run"),
        ("gunicorn", "Arbiter.wait_for_signals"),
    ],
)
def test_a_program_ends_wherever_it_is_told_to(
    loop: str, function: str, tmp_path: Path, migrated_file: Path
) -> None:
    shutil.copy(migrated_file, tmp_path / "registry.db")

    done = run_quickly([sys.executable, PROGRAM, loop, tmp_path], check=True, timeout=540)
    children = [json.loads(line) for line in done.stdout.splitlines()]

    assert [child for child in children if child["code"] != 0] == [], done.stderr
    assert function in children[0]["functions"]
