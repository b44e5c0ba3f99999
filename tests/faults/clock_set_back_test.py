"""The clock of a machine that is set back or ahead does not stop its scheduler."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.processes import TESTS, clean_environment, running, said_first

FAKES = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not FAKES, reason="it needs libfaketime (apt-get install faketime)"),
]


def test_rounds_go_on_while_the_clock_is_set(registry_url: str, tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0\n", encoding="utf-8")
    faked = {
        "LD_PRELOAD": str(FAKES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }

    command = [sys.executable, "-m", "support.clock_set_back", registry_url]
    environment = {**clean_environment(), **faked}

    with running(command, cwd=TESTS, env=environment, is_cold=True) as process:
        rounds = json.loads(said_first(process))

    assert list(rounds) == ["0 +0", "1 -3600", "2 +15552000", "3 +0"]
    assert min(rounds.values()) >= 1, rounds
