"""Limits of processes that run already: memory, open files, threads."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def little_memory(pid: int, more_bytes: int) -> Iterator[None]:
    """While the block runs, a process may take so much more memory than it has, and no more."""
    in_use = _status(pid, "VmData") * 1024
    with _limited(pid, resource.RLIMIT_DATA, in_use + more_bytes):
        yield


@contextmanager
def few_files(pid: int, number: int) -> Iterator[None]:
    """While the block runs, a process may have so many files and connections open."""
    with _limited(pid, resource.RLIMIT_NOFILE, number):
        yield


def n_threads(pid: int) -> int:
    return _status(pid, "Threads")


def n_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@contextmanager
def _limited(pid: int, what: int, value: int) -> Iterator[None]:
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of other processes can only be set on Linux")
    soft, hard = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (value, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, what, (soft, hard))


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"^{name}:\s+(\d+)", text, flags=re.MULTILINE)
    assert found is not None
    return int(found[1])
