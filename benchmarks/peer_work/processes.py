"""Processes of peers, each in an environment of its own, that take turns when told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[1]
ENDS_WITHIN_S = 30
SAME = 1e-9
"""How far equal metrics may lie apart, relatively: sums are taken in different orders."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A module of this folder and what pip installs for it.

    Without requirements it runs in the environment that measures; peers may share another one by
    its name. `agrees_to` is relative.
    """

    module: str
    requirements: tuple[str, ...] = ()
    agrees_to: float = SAME
    environment: str | None = None


@dataclass
class Running:
    """A peer's process between two turns."""

    peer: Peer
    process: subprocess.Popen[str]
    versions: Mapping[str, str]
    peak_mib: float = 0.0

    def turn(self, case: str) -> tuple[float, Mapping[str, float]]:
        """Seconds of the work, and the metrics it gave. Raises `RuntimeError` if it ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        answer = _next_line(self.process)
        self.peak_mib = answer["peak_mib"]
        return answer["seconds"], answer["answers"]


def python_of(peer: Peer, environments: Path) -> Path:
    """The Python that runs the peer; its environment is made where there is none yet."""
    if not peer.requirements:
        return Path(sys.executable)
    folder = environments / (peer.environment or peer.module)
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = " ".join(peer.requirements)
    if not ready.exists() or ready.read_text() != wanted:
        print(f"Installing {wanted}.", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *peer.requirements], check=True)
        ready.write_text(wanted)
    return python


@contextmanager
def started(peer: Peer, python: Path, sample: Path) -> Iterator[Running]:
    """The peer's process, ready for its first turn; it ends with the block."""
    with subprocess.Popen(
        [python, "-m", f"peer_work.{peer.module}", sample],
        cwd=BENCHMARKS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    ) as process:
        try:
            yield Running(peer, process, _next_line(process)["versions"])
        finally:
            # Its input ends, so that it can end what it has started.
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _next_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        message = f"{process.args!r} ended with code {process.wait()}."
        raise RuntimeError(message)
    return dict(json.loads(line))
