"""How much memory a server holds, as Linux tells it."""

from __future__ import annotations

from load.process_tree import descendants, status_of


def resident_mib(pid: int) -> float:
    """Resident memory of a process and of everything it started, in MiB."""
    return sum(_kib(each) for each in (pid, *descendants(pid))) / 1024


def _kib(pid: int) -> int:
    return status_of(pid).get("VmRSS", 0)
