"""What clients saw: one line for each answer, written by many processes, read by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

NO_RESPONSE = 0
"""Stands for a status where the connection ended without one."""
_LATER = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Observation:
    """One request: what it was for, how it was answered and how long that took."""

    kind: str
    status: int
    seconds: float
    says_when: bool = False
    """Whether the answer had a Retry-After."""

    @property
    def is_expected(self) -> bool:
        """Done, or politely put off; whatever else a server may answer, it should not."""
        return 200 <= self.status < 400 or (self.status in _LATER and self.says_when)


@dataclass(frozen=True, slots=True)
class Seen:
    """All requests of one kind together; times in milliseconds, of those that were answered."""

    kind: str
    n: int
    p50_ms: float
    p95_ms: float
    highest_ms: float
    put_off: int
    unexpected: int


def write(path: Path, observations: Iterable[Observation]) -> None:
    """Add observations to a file of their process."""
    with path.open("a", encoding="utf-8") as lines:
        for each in observations:
            lines.write(f"{json.dumps(asdict(each))}\n")


def read(folder: Path) -> list[Observation]:
    """Everything that was observed by any process."""
    return [
        Observation(**json.loads(line))
        for path in sorted(folder.glob("*.seen"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def summarised(observations: Sequence[Observation]) -> list[Seen]:
    """By kind of request, in the order of their names."""
    kinds = sorted({each.kind for each in observations})
    return [_summary(kind, [o for o in observations if o.kind == kind]) for kind in kinds]


def statuses(observations: Iterable[Observation]) -> Mapping[int, int]:
    """How often each status was answered."""
    return dict(sorted(Counter(each.status for each in observations).items()))


def _summary(kind: str, some: Sequence[Observation]) -> Seen:
    seconds = sorted(each.seconds for each in some)
    p95 = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return Seen(
        kind,
        len(some),
        _ms(median(seconds)),
        _ms(p95),
        _ms(seconds[-1]),
        sum(each.status in _LATER for each in some),
        sum(not each.is_expected for each in some),
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
