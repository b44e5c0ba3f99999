"""Real processes: started with a Python module, spoken to by lines, killed for good."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.quick_starts import QuickProcess

TESTS = Path(__file__).parents[1]
_PATIENCE_S = 240


class Process:
    """A running `python -m module arguments…`, in whose working directory `support` lies."""

    def __init__(self, module: str, *arguments: str, is_cold: bool = False) -> None:
        self._process = _starts(is_cold)(
            [sys.executable, "-m", module, *arguments],
            cwd=TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def wait_for_line(self) -> str:
        """The next line of its output."""
        assert self._process.stdout is not None
        with killed_after(self._process):
            line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.communicate(timeout=_PATIENCE_S)[1])
        return line.strip()

    def send_line(self) -> None:
        """Let a process go on that waits for a line of input."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def result(self) -> Any:
        """The JSON document it ends with; fails with its error output if it failed."""
        output, errors = self._process.communicate(timeout=_PATIENCE_S)
        assert self._process.returncode == 0, errors
        return json.loads(output.splitlines()[-1])

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def killed_after(process: subprocess.Popen[str], limit_s: float = _PATIENCE_S) -> Iterator[None]:
    """Kill a process unless the block ends in time; whoever reads or waits in it then goes on."""
    timer = threading.Timer(limit_s, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def running(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    is_cold: bool = False,
) -> Iterator[subprocess.Popen[str]]:
    """A program that outlives neither the block nor what a test has patience for.

    A cold one loads everything itself, as its users see it.
    """
    # Without them it would inherit what libraries set behind the back of Python, as readline does.
    variables = os.environ if env is None else env
    with _starts(is_cold)(
        command, cwd=cwd, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            with killed_after(process):
                yield process
        finally:
            process.kill()


def _starts(is_cold: bool) -> Callable[..., subprocess.Popen[str]]:
    return functools.partial(subprocess.Popen, text=True) if is_cold else QuickProcess


def in_a_child(act: Callable[[], object]) -> int:
    """Signal or exit code with which a fork of this process ends that does something."""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def say(line: str) -> None:
    """What a started program tells the test that waits for it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def said_first(process: subprocess.Popen[str]) -> str:
    """The first line that a program says; nobody listens to what follows."""
    assert process.stdout is not None
    with killed_after(process), process.stdout as told:
        return told.readline().strip()


@contextmanager
def started(module: str, *arguments: str, is_cold: bool = False) -> Iterator[Process]:
    """A process that does not outlive the block."""
    process = Process(module, *arguments, is_cold=is_cold)
    try:
        yield process
    finally:
        process.end()


def clean_environment() -> Mapping[str, str]:
    """The environment of this process without the settings of a registry."""
    return {key: text for key, text in os.environ.items() if not key.startswith("OFFDIAG_")}
