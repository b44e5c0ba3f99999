"""How a task may end without a result, beside failing: it came too early, or it is hopeless."""

from __future__ import annotations


class NotYet(Exception):
    """What the task needs is still being made: look again in `delay_s` seconds.

    This is no attempt, so a task has to decide by itself for how long it goes on waiting.
    """

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class Never(Exception):
    """Another attempt would end the same way; the message says why and what can be done."""
