"""A PostgreSQL connection that times out when its server no longer answers.

The server ends statements that take too long, and TCP notices hosts that vanished. A frozen proxy
in between does neither: its host acknowledges every byte, and the answer never comes.

It is a separate module because the driver comes with an extra.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

RESPONSE_TIMEOUT_S = 75.0
"""Seconds to wait for one answer: longer than any statement may take."""


class TimeoutConnection(psycopg.Connection[Any]):
    """A connection that closes and raises `psycopg.OperationalError` when no answer comes."""

    def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
        """Wait for the server, for at most `RESPONSE_TIMEOUT_S`; the library waits only here."""
        return super().wait(self._bounded(gen), *arguments, **named)

    def _bounded(self, gen: Any) -> Generator[Any, Any, Any]:
        give_up_at = time.monotonic() + RESPONSE_TIMEOUT_S
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                # The library wakes up now and then without anything being ready.
                if not ready and time.monotonic() > give_up_at:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"no answer for {RESPONSE_TIMEOUT_S:.0f} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
