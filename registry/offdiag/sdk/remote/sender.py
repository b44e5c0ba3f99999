"""Chunks of one run on their way to a server, sent by a thread so that a job need not wait.

The job hands over bytes and goes on. As long as the server takes them they only pass through
memory. Where it does not, a job waits once, for `LONGEST_WAIT_S`, and from then on its chunks go
into the spool until the thread has caught up. Whatever ends the sending, what the server has not
acknowledged lies in the spool afterwards.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offdiag.errors import Conflict, OffdiagError, ServerUnavailable
from offdiag.sdk.remote.patience import delay_before_next, delays
from offdiag.sdk.remote.spool import Asked, SpooledRun

LONGEST_WAIT_S = 2.0
"""So long the job waits for room in memory, once, before its chunks go to the disk."""
MOST_WAITING = 64 << 20
"""Bytes of chunks that wait in memory; one chunk may always wait."""
AT_EXIT_S = 10.0
"""So long a program that ends goes on sending; the rest is spooled."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A chunk that is not sent: its bytes, or the file in the spool that holds them."""

    seq: int
    content: Any

    @property
    def n_bytes(self) -> int:
        return 0 if isinstance(self.content, Path) else len(self.content)

    def read(self) -> Any:
        """The bytes."""
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


class Sender:
    """Sends the chunks of one run in order, each until it is acknowledged.

    `send` makes one attempt at one chunk. `spooled` and `asked` are where and as what the run
    waits if it must.
    """

    def __init__(
        self,
        send: Callable[[int, Any], None],
        spooled: SpooledRun,
        asked: Asked,
        *,
        longest_wait_s: float = LONGEST_WAIT_S,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._send = send
        self._spooled = spooled
        self._asked = asked
        self._longest_wait_s = longest_wait_s
        self._most_waiting = most_waiting
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._queue: deque[Waiting] = deque()
        self._n_bytes = 0
        self._is_behind = False
        self._is_spooled = False
        self._closing_at: float | None = None
        self._failure: OffdiagError | None = None
        self._thread = self._started()

    def put(self, seq: int, content: Any) -> None:
        """Take one chunk, after `longest_wait_s` at most; what is refused later shows in `close`.

        Raises `SpoolFull` where neither memory nor disk has room, and then has not taken it.
        """
        self._require_own_process()
        if not self._thread.is_alive() and self._failure is None:
            self._closing_at = None
            self._thread = self._started()
        with self._changed:
            if not self._has_room(len(content)) and not self._is_behind:
                self._is_behind = not self._changed.wait_for(
                    lambda: self._has_room(len(content)), self._longest_wait_s
                )
            is_late = self._is_behind or self._failure is not None
        waiting = Waiting(seq, self._keep(seq, content) if is_late else content)
        with self._changed:
            self._queue.append(waiting)
            self._n_bytes += waiting.n_bytes
            self._changed.notify_all()

    def close(self, *, patience_s: float) -> OffdiagError | None:
        """End the sending, after everything is sent or the patience is used up.

        Returns None where everything was acknowledged, and else why not; the rest is in the
        spool then. Raises `SpoolFull` where that has no room: nothing is lost as long as the
        process lives, and `close` can be called again.
        """
        self._require_own_process()
        with self._changed:
            self._closing_at = time.monotonic() + patience_s
            self._changed.notify_all()
        self._thread.join()
        self._keep_rest()
        _living.discard(self)
        return self._failure

    @property
    def has_spooled(self) -> bool:
        """Whether the run has a folder in the spool."""
        return self._is_spooled

    def _started(self) -> threading.Thread:
        """A thread that sends; after `close` another one, where more is to be sent."""
        thread = threading.Thread(
            target=self._work, name=f"offdiag sends {self._spooled.folder.name}", daemon=True
        )
        thread.start()
        _living.add(self)
        return thread

    def _has_room(self, n_bytes: int) -> bool:
        return self._n_bytes == 0 or self._n_bytes + n_bytes <= self._most_waiting

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closing_at is not None)
                if not self._queue:
                    return
                waiting = self._queue[0]
            try:
                self._send_until_stored(waiting)
            except OffdiagError as error:
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                return
            with self._changed:
                self._queue.popleft()
                self._n_bytes -= waiting.n_bytes
                if self._n_bytes <= self._most_waiting // 2:
                    self._is_behind = False
                self._changed.notify_all()
            if isinstance(waiting.content, Path):
                waiting.content.unlink(missing_ok=True)

    def _send_until_stored(self, waiting: Waiting) -> None:
        content = waiting.read()
        for planned_s in delays():
            try:
                self._send(waiting.seq, content)
            except ServerUnavailable as error:
                if not self._may_wait(delay_before_next(error, planned_s)):
                    raise
            else:
                return

    def _may_wait(self, delay_s: float) -> bool:
        """Wait before the next attempt; False where the run is to be closed before that."""
        until = time.monotonic() + delay_s
        with self._changed:
            while (left_s := until - time.monotonic()) > 0:
                if self._closing_at is not None and self._closing_at < until:
                    return False
                self._changed.wait(left_s)
        return True

    def _keep_rest(self) -> None:
        """Move what waits in memory to the spool."""
        for at, waiting in enumerate(self._queue):
            if not isinstance(waiting.content, Path):
                path = self._keep(waiting.seq, waiting.content)
                self._queue[at] = Waiting(waiting.seq, path)
        self._n_bytes = 0

    def _keep(self, seq: int, content: Any) -> Path:
        if not self._is_spooled:
            self._spooled.begin(self._asked)
            self._is_spooled = True
        return self._spooled.put(seq, content)

    def _require_own_process(self) -> None:
        if os.getpid() != self._pid:
            raise Conflict(
                "this run was opened by the process that this one was forked from.",
                field="run",
                hint="Log in the process that opened it, or open a run of its own here.",
            )

    def is_of_this_process(self) -> bool:
        """Whether this process opened the run, and not the one it was forked from."""
        return os.getpid() == self._pid


_living: weakref.WeakSet[Sender] = weakref.WeakSet()


def _at_exit() -> None:
    until = time.monotonic() + AT_EXIT_S
    for sender in list(_living):
        if sender.is_of_this_process():
            sender.close(patience_s=max(0.0, until - time.monotonic()))


atexit.register(_at_exit)
