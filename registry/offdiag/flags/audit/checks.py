"""One test of published numbers against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from offdiag.flags.audit.interval import Interval


class CheckKind(StrEnum):
    """What kind of knowledge decides."""

    IDENTITY = "identity"
    """Two ways to the same value."""
    BOUND = "bound"
    """One value limits another, or a metric has a range."""
    COUNTS = "counts"
    """Whole numbers of cases must give the values."""
    REPEAT = "repeat"
    """One value was printed more than once, such as 55/60 and 91.7 %."""


@dataclass(frozen=True, slots=True)
class Check:
    """A statement that must hold for the claims at these places of the list of claims.

    `about` is the place of the claim that is compared with `expected`, the values that the
    other claims leave for it; both None where the statement is about all of them at once.
    """

    kind: CheckKind
    statement: str
    places: frozenset[int]
    holds: bool
    about: int | None = None
    expected: Interval | None = None

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON form; `names` are those of the claims, by place."""
        return {
            "kind": self.kind.value,
            "statement": self.statement,
            "numbers": [names[place] for place in sorted(self.places)],
            "holds": self.holds,
            "about": None if self.about is None else names[self.about],
            "expected": None if self.expected is None else self.expected.to_list(),
        }
