"""What was answered to clients, counted by each of them and read by one at the end.

A process that is killed loses what it counted since its last answer, and nothing else.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from load.observations import NO_RESPONSE, Observation

_SUFFIX = ".answers"


class Answers:
    """The answers that one client got, by status; all its threads may count."""

    def __init__(self, folder: Path, client: str) -> None:
        self._path = folder / f"{client}{_SUFFIX}"
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, seen: Observation) -> None:
        is_error = not seen.is_expected and seen.status != NO_RESPONSE
        with self._lock:
            self._counts[json.dumps([seen.status, is_error])] += 1
            part = self._path.with_suffix(".part")
            part.write_text(json.dumps(self._counts), encoding="utf-8")
            part.replace(self._path)


@dataclass(frozen=True, slots=True)
class Answered:
    """All answers by status, 0 for none, and how many were errors.

    An error is whatever is neither done nor put off until a moment that is told. No answer at
    all is none: that is how it looks when a server is killed, and clients ask again.
    """

    statuses: dict[int, int]
    errors: int

    def __str__(self) -> str:
        return ", ".join(f"{number} x {status}" for status, number in self.statuses.items())


def answered(folder: Path, clients: str = "*") -> Answered:
    """What clients that kept count in a folder were answered, all or those named by a pattern."""
    counts: Counter[int] = Counter()
    errors = 0
    for path in folder.glob(f"{clients}{_SUFFIX}"):
        for key, number in json.loads(path.read_text(encoding="utf-8")).items():
            status, is_error = json.loads(key)
            counts[status] += number
            errors += number if is_error else 0
    return Answered(dict(sorted(counts.items())), errors)
