"""Attempts at a job: how they may end, how often they are made, who is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.store.jobs import Lease


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    ALREADY_CLAIMED = "already_claimed"
    """Another worker holds the job, or it was done already."""
    RELEASED = "released"
    """It failed and will be tried again."""
    FAILED = "failed"
    """It failed for the last time."""
    DEFERRED = "deferred"
    """It came too early and will be looked at again; that was not an attempt."""
    LOST = "lost"
    """The lease ran out while computing; nothing was written."""


MOST_LOSSES = 20
"""Leases that a job may lose without an error before each loss is an attempt.

A crowded machine or a database that is away takes a few of them. Work whose own computation
stops its process for longer than a lease would take them for ever.
"""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often work is tried, and the seconds between attempts (doubled each time)."""

    max_attempts: int = 5
    first_delay_s: float = 1.0

    def delay_s(self, attempts: int) -> float:
        """Seconds to wait after this many attempts."""
        return float(self.first_delay_s * 2 ** (attempts - 1))


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that came to its end. `error` is what it failed with."""

    lease: Lease
    outcome: Outcome
    duration_s: float
    error: str | None = None


def ignore(_ended: Ended) -> None:
    """The default listener for attempts, which does nothing."""


class NotYet(Exception):
    """What the task needs is still being made: look again in `delay_s` seconds.

    This is not an attempt, so a task has to decide by itself for how long it goes on waiting.
    """

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class Never(Exception):
    """Another attempt would end the same way; the message says why and what can be done."""
