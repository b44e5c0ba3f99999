"""A program of offdiag as a supervisor runs it: whenever it ends, it is started again."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import Popen, TimeoutExpired


class Program:
    """One web server or worker. `is_exposed` says whether faults may hit it.

    `ends` has the exit codes with which it ended although nothing had hit it.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        is_exposed: bool,
    ) -> None:
        self.name = name
        self.is_exposed = is_exposed
        self.n_starts = 0
        self.ends: list[int] = []
        self._command = command
        self._environment = environment
        self._log = log
        self._lock = threading.Lock()
        self._is_hit = False
        self._process = self._started()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def age_s(self) -> float:
        """Seconds since it was started last."""
        return time.monotonic() - self._started_at

    def hit(self, number: signal.Signals) -> Popen[str]:
        """Send it a signal that may end it; the process that got it."""
        self.look_after()
        with self._lock:
            self._is_hit = True
            self._process.send_signal(number)
            return self._process

    def may_end(self) -> None:
        """Something makes it hard for it to go on: its next end is none by itself."""
        with self._lock:
            self._is_hit = True

    def look_after(self) -> None:
        """Start it again if it has ended."""
        with self._lock:
            code = self._process.poll()
            if code is None:
                return
            if not self._is_hit:
                self.ends.append(code)
            self._is_hit = False
            self._process = self._started()

    def end(self, timeout_s: float = 40.0) -> None:
        """Ask it to end, and end it if it does not."""
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _started(self) -> Popen[str]:
        self.n_starts += 1
        self._started_at = time.monotonic()
        with self._log.open("ab") as log:
            return Popen(
                self._command,
                env=self._environment,
                cwd=self._log.parent,
                stdout=log,
                stderr=log,
                text=True,
            )
