"""Attempts at a job: their outcomes, the retry policy, and what a task may raise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.store.jobs import Lease


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    ALREADY_CLAIMED = "already_claimed"
    """Another worker holds the job, or it is already done."""
    RELEASED = "released"
    """It failed and will be tried again."""
    FAILED = "failed"
    """It failed for the last time."""
    DEFERRED = "deferred"
    """It came too early and will be tried later; this does not count as an attempt."""
    LOST = "lost"
    """The lease expired during the computation; nothing was written."""


MOST_LOSSES = 20
"""Leases that a job may lose without an error before each further loss counts as an attempt.

A crowded machine or an unavailable database causes a few of them. Work whose own computation stops
its process for longer than a lease would otherwise lose leases forever.
"""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often work is attempted, and the seconds between attempts (doubled each time)."""

    max_attempts: int = 5
    first_delay_s: float = 1.0

    def delay_s(self, attempts: int) -> float:
        """Seconds to wait after this many attempts."""
        return float(self.first_delay_s * 2 ** (attempts - 1))


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that has ended. `error` is why it failed."""

    lease: Lease
    outcome: Outcome
    duration_s: float
    error: str | None = None


def ignore(_ended: Ended) -> None:
    """The default listener for attempts, which does nothing."""


class NotYet(Exception):
    """Raised when what the task needs is still being made: try again in `delay_s` seconds.

    This does not count as an attempt, so a task has to decide for itself how long it waits.
    """

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class Never(Exception):
    """Raised when further attempts would end the same way; the message says why and what to do."""
