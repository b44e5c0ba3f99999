"""Processes and what they started, as Linux tells it, while they come and go."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_NUMBERS = frozenset({"Threads", "VmRSS"})


def descendants(pid: int) -> list[int]:
    """Everything a process has started, and what that has started."""
    found: list[int] = []
    for thread in _threads_of(pid):
        for child in map(int, text_of(thread / "children").split()):
            found += [child, *descendants(child)]
    return found


def _threads_of(pid: int) -> list[Path]:
    """None where the process has ended, even between two of our looks at its folder."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return list((PROC / str(pid) / "task").iterdir())
    return []


def status_of(pid: int) -> Mapping[str, int]:
    """`Threads`, and `VmRSS` in KiB; nothing of a process that has ended."""
    lines = text_of(PROC / str(pid) / "status").splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name: int(value.split()[0]) for name, value in pairs if name in _NUMBERS}


def text_of(path: Path) -> str:
    """Nothing where the thread or the process has ended since it was found."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return path.read_text()
    return ""
