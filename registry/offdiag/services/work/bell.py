"""The local bell: it wakes workers in this process at once, and on PostgreSQL everywhere.

A bell is a hint. Workers also look at the table by themselves, so a bell that is not heard
costs a moment and nothing else.
"""

from __future__ import annotations

import threading

from offdiag.store import work
from offdiag.store.session import Session

CHANNEL = "offdiag_work"
"""PostgreSQL notification channel."""


class LocalBell:
    """Rung inside a transaction, heard after its commit."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rings = 0

    def ring(self, session: Session) -> None:
        """Wake whoever listens once the session's transaction has been committed."""
        work.notify(session, CHANNEL)
        work.after_commit(session, self.wake)

    def wake(self) -> None:
        """Wake everybody who waits in this process."""
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    def wait(self, heard: int, timeout_s: float) -> int:
        """Wait until the bell was rung more than `heard` times; returns how often it was."""
        with self._condition:
            self._condition.wait_for(lambda: self._rings > heard, timeout_s)
            return self._rings


LOCAL_BELL = LocalBell()
"""One for each process: a ring must reach the loop that shares the process with the web."""
