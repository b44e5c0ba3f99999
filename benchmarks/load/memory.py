"""How much memory a server holds, as Linux tells it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def resident_mib(pid: int) -> float:
    """Resident memory of a process and of everything it started, in MiB."""
    return sum(_kib(each) for each in (pid, *_descendants(pid))) / 1024


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for listed in _PROC.glob(f"{pid}/task/*/children"):
        for child in map(int, _text(listed).split()):
            found += [child, *_descendants(child)]
    return found


def _kib(pid: int) -> int:
    lines = _text(_PROC / str(pid) / "status").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _text(path: Path) -> str:
    """Nothing where the thread or the process has ended since it was found."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return path.read_text()
    return ""
