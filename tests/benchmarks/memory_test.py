"""Memory of servers is measured while their threads and children come and go."""

from __future__ import annotations

import sys

import pytest

from load.memory import resident_mib
from support.processes import running

N_LOOKS = 300
COMES_AND_GOES = """
import subprocess, sys, threading
print("ready", flush=True)
while True:
    threads = [threading.Thread(target=lambda: None) for _ in range(20)]
    child = subprocess.Popen([sys.executable, "-c", ""])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child.wait()
"""


@pytest.mark.processes
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it this way")
def test_what_ends_while_somebody_looks_counts_nothing() -> None:
    with running([sys.executable, "-c", COMES_AND_GOES]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert all(resident_mib(process.pid) > 1 for _ in range(N_LOOKS))
    assert resident_mib(process.pid) == 0
