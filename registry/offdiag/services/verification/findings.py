"""What a verification can find."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FindingKind(StrEnum):
    """What is wrong, by what has to be done about it."""

    LOST = "lost"
    """Something that was acknowledged is not there, or is not what was acknowledged."""
    INCOMPLETE = "incomplete"
    """A run has other rows than it says it has."""
    DAMAGED = "damaged"
    """Stored bytes cannot be what was written."""
    DRIFT = "drift"
    """A stored result is not what the predictions give; computing it again puts it right."""
    STUCK = "stuck"
    """Work that nobody does, or results that nobody was asked for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: with what, and in a sentence."""

    kind: FindingKind
    subject: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": self.kind.value, "subject": self.subject, "sentence": self.sentence}


@dataclass(frozen=True)
class Verification:
    """The result: how many runs there are, how many were computed again, and what is wrong.

    `n_waiting` runs have no result of now yet, but work stands for them.
    """

    n_runs: int
    n_recomputed: int
    n_waiting: int
    findings: tuple[Finding, ...]

    @property
    def is_clean(self) -> bool:
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "is_clean": self.is_clean,
            "n_runs": self.n_runs,
            "n_recomputed": self.n_recomputed,
            "n_waiting": self.n_waiting,
            "findings": [finding.to_dict() for finding in self.findings],
        }
