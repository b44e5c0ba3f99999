"""Forked programs are like ones that were started cold, and know nothing of earlier tests."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from support.processes import running

STATE = """
import faulthandler, gc, json, logging, os, signal, sys, threading, time
handlers = {int(number): str(signal.getsignal(number)) for number in signal.valid_signals()}
handled = {number: text for number, text in handlers.items() if text != "0"}
say = {
    "arguments": [sys.argv, sys.orig_argv, sys.path, os.getcwd(), __name__, str(__spec__)[:25]],
    "file": globals().get("__file__"),
    "variables": [dict(os.environ), time.tzname],
    "processes": [os.getppid(), os.getpgrp(), os.getsid(0), threading.active_count()],
    "signals": [sorted(handled), list(map(int, signal.pthread_sigmask(0, [])))],
    "descriptors": os.listdir("/proc/self/fd"),
    "streams": [[s.encoding, s.line_buffering] for s in (sys.stdin, sys.stdout, sys.stderr)],
    "collector": [gc.isenabled(), gc.get_threshold()],
    "logs": [faulthandler.is_enabled(), logging.getLogger().handlers, logging.getLogger().level],
}
print(json.dumps([say, "offdiag" in sys.modules]), flush=True)
time.sleep(60)
"""


@pytest.mark.processes
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it this way")
@pytest.mark.parametrize("kind", [["-c", STATE], ["program.py"], ["-m", "program"]])
def test_a_program_is_like_one_that_was_started_cold(
    kind: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").write_text(STATE, encoding="utf-8")
    command = [sys.executable, *kind, "argument"]
    # Other variables than in the moment in which the process that forks was started.
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("OFFDIAG_URL", f"sqlite:///{kind[0]}.db")

    states, ends = [], []
    for is_cold in (True, False):
        with running(command, cwd=tmp_path, is_cold=is_cold) as process:
            assert process.stdout is not None
            states.append(json.loads(process.stdout.readline()))
            # Ctrl-C is ignored below a shell that runs the tests in the background.
            process.send_signal(signal.SIGTERM)
            ends.append(process.wait(60))

    (cold, _), (forked, is_forked) = states
    assert is_forked
    assert forked == cold
    assert ends == [-signal.SIGTERM, -signal.SIGTERM]
