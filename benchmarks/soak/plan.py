"""How long a soak lasts, how much is asked for, and which fault comes when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Soak:
    """So many seconds of load, one fault in each `fault_every_s` of them.

    Before that, clients and readers ask without pauses for `capacity_s`, which shows what can be
    done at all; of that they ask for `share` from then on. What processes hold is looked at every
    `look_every_s`; what they come to hold in the first tenth of the time is not counted as growth.
    Workers that faults may hit hold leases of `short_lease_s`, the others of `lease_s`.
    """

    seconds: float
    fault_every_s: float
    seed: int
    capacity_s: float = 20.0
    share: float = 0.2
    clients: int = 4
    readers: int = 4
    lease_s: float = 6.0
    short_lease_s: float = 3.0
    look_every_s: float = 2.0

    @property
    def warm_s(self) -> float:
        return self.seconds / 10


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """A kind of fault, and the second at which it comes."""

    at_s: float
    kind: str


def planned_faults(
    kinds: Sequence[str], *, seconds: float, every_s: float, random: Random
) -> list[PlannedFault]:
    """One fault in each span of `every_s`, at a random moment of it.

    Kinds are dealt as cards are: in random order, and each once before any comes again.
    """
    dealt = _dealt(kinds, random)
    return [
        PlannedFault((span + random.random()) * every_s, next(dealt))
        for span in range(int(seconds / every_s))
    ]


def _dealt(kinds: Sequence[str], random: Random) -> Iterator[str]:
    while True:
        yield from random.sample(kinds, len(kinds))
