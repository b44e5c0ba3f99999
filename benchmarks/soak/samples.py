"""What processes hold: open files, threads, memory, and handles of an SQLite file."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from load.process_tree import PROC, descendants, status_of, text_of
from soak.programs import Program

_STARTED = 19
"""Place of the start in /proc/PID/stat, counted from behind the name of the program."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a process; `handles` are those of the database file."""

    files: int
    threads: int
    memory_mib: float
    handles: int


@dataclass(slots=True)
class Life:
    """One process from its start on: seconds at which somebody looked, and what was seen.

    `role` is the name of its program, or says that it is a child of that.
    """

    role: str
    pid: int
    is_exposed: bool
    at_s: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)


class Observer:
    """Looks at programs and their children, and keeps what it saw by the lives of processes."""

    def __init__(self, programs: Iterable[Program], database_file: Path | None) -> None:
        self.lives: dict[tuple[int, str], Life] = {}
        self._programs = tuple(programs)
        self._file = None if database_file is None else str(database_file.resolve())

    def look(self, at_s: float) -> int:
        """Look once at all of them; how many handles of the database file they have."""
        handles = 0
        for program in self._programs:
            first = program.pid
            for pid in (first, *descendants(first)):
                role = program.name if pid == first else f"child of the {program.name}"
                started, sample = _started(pid), sampled(pid, self._file)
                if started and sample is not None:
                    life = self.lives.setdefault(
                        (pid, started), Life(role, pid, program.is_exposed)
                    )
                    life.at_s.append(at_s)
                    life.samples.append(sample)
                    handles += sample.handles
        return handles


def sampled(pid: int, database_file: str | None = None) -> Sample | None:
    """What a process holds at this moment, None if it has ended."""
    status = status_of(pid)
    with suppress(FileNotFoundError, ProcessLookupError):
        targets = [_target(link) for link in (PROC / str(pid) / "fd").iterdir()]
        if "VmRSS" in status:
            return Sample(
                files=len(targets),
                threads=status["Threads"],
                memory_mib=status["VmRSS"] / 1024,
                handles=targets.count(database_file) if database_file else 0,
            )
    return None


def _target(link: Path) -> str:
    with suppress(OSError):
        return str(link.readlink())
    return ""


def _started(pid: int) -> str:
    """When it was started, which tells it from an earlier process of that number."""
    fields = text_of(PROC / str(pid) / "stat").rpartition(")")[2].split()
    return fields[_STARTED] if fields else ""
