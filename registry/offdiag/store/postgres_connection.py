"""A connection to PostgreSQL that gives up a server which no longer answers.

The server ends what takes too long, and TCP notices hosts that vanished. A proxy in between that
has frozen does neither: its host acknowledges every byte, and the answer never comes.

Apart from the other things of PostgreSQL, as its driver comes with an extra.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

RESPONSE_S = 75.0
"""Seconds to wait for one answer: longer than any statement may take."""


class RetryingConnection(psycopg.Connection[Any]):
    """Raises `psycopg.OperationalError` where an answer does not come, and is closed then."""

    def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
        """What the library waits with, whatever it waits for."""
        return super().wait(self._bounded(gen), *arguments, **named)

    def _bounded(self, gen: Any) -> Generator[Any, Any, Any]:
        give_up_at = time.monotonic() + RESPONSE_S
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                # The library looks in now and then with nothing being ready.
                if not ready and time.monotonic() > give_up_at:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"no answer for {RESPONSE_S:.0f} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
