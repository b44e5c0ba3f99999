"""Sending a run to a server chunk by chunk, and how many samples are in a chunk.

The job passes bytes on and continues. While the server accepts them, they only pass through
memory. If it does not, the job waits once, for `LONGEST_WAIT_S`; from then on its chunks go into
the spool until the thread has caught up. Whatever ends the sending, chunks that the server has not
acknowledged are in the spool afterwards.
"""

from __future__ import annotations

import atexit
import base64
import hashlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from offdiag.domain.look_alikes import warn_of
from offdiag.domain.sample_content import LoggedSamples
from offdiag.domain.texts import name_segment
from offdiag.errors import Conflict, OffdiagError, ServerUnavailable
from offdiag.inputs.bodies.columns import MOST_BYTES_SENT, MOST_CELLS, MOST_ROWS
from offdiag.records.ingest import ClosedRun, Closing
from offdiag.sdk.remote.connection import Connection, delay_before_next, delays
from offdiag.sdk.remote.spool import SpooledRequest, SpooledRun
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunk_stream import MEDIA_TYPE

LONGEST_WAIT_S = 2.0
"""How long the job waits, once, for room in memory before its chunks go to disk."""
MOST_WAITING = 64 << 20
"""Bytes of chunks that wait in memory; one chunk may always wait."""
AT_EXIT_S = 10.0
"""How long a program that exits continues to send; the rest is spooled."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A chunk that is not sent yet: its bytes, or its file in the spool."""

    seq: int
    content: Any

    @property
    def n_bytes(self) -> int:
        return 0 if isinstance(self.content, Path) else len(self.content)

    def read(self) -> Any:
        """The bytes of the chunk, from memory or from its file."""
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


class Sender:
    """Sends the chunks of one run in order, each until it is acknowledged.

    `send` makes one attempt at one chunk. `spooled` is the folder in which the run waits if
    necessary, and `asked` the request that opens it.
    """

    def __init__(
        self,
        send: Callable[[int, Any], None],
        spooled: SpooledRun,
        asked: SpooledRequest,
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
        """Take one chunk within `longest_wait_s`; a later refusal is reported by `close`.

        Raises `SpoolFull`, without taking the chunk, if there is room neither in memory nor on
        disk.
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
        waiting = Waiting(seq, self._spool(seq, content) if is_late else content)
        with self._changed:
            self._queue.append(waiting)
            self._n_bytes += waiting.n_bytes
            self._changed.notify_all()

    def close(self, *, retry_for_s: float) -> OffdiagError | None:
        """End the sending, after everything is sent or the retry time is used up.

        Returns None if everything was acknowledged, else the reason; the rest is then in the
        spool. Raises `SpoolFull` if the spool has no room: nothing is lost while the process
        lives, and `close` can be called again.
        """
        self._require_own_process()
        with self._changed:
            self._closing_at = time.monotonic() + retry_for_s
            self._changed.notify_all()
        self._thread.join()
        self._spool_rest()
        _open_senders.discard(self)
        return self._failure

    @property
    def has_spooled(self) -> bool:
        """Whether the run has a folder in the spool."""
        return self._is_spooled

    def _started(self) -> threading.Thread:
        """A thread that sends; another one after `close`, if more is to be sent."""
        thread = threading.Thread(
            target=self._work, name=f"offdiag sends {self._spooled.folder.name}", daemon=True
        )
        thread.start()
        _open_senders.add(self)
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
                self._send_until_acknowledged(waiting)
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

    def _send_until_acknowledged(self, waiting: Waiting) -> None:
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
        """Wait before the next attempt; False if the run is to be closed before that."""
        until = time.monotonic() + delay_s
        with self._changed:
            while (left_s := until - time.monotonic()) > 0:
                if self._closing_at is not None and self._closing_at < until:
                    return False
                self._changed.wait(left_s)
        return True

    def _spool_rest(self) -> None:
        """Move the chunks in memory to the spool."""
        for at, waiting in enumerate(self._queue):
            if not isinstance(waiting.content, Path):
                path = self._spool(waiting.seq, waiting.content)
                self._queue[at] = Waiting(waiting.seq, path)
        self._n_bytes = 0

    def _spool(self, seq: int, content: Any) -> Path:
        if not self._is_spooled:
            self._spooled.begin(self._asked)
            self._is_spooled = True
        return self._spooled.put(seq, content)

    def _require_own_process(self) -> None:
        if os.getpid() != self._pid:
            raise Conflict(
                "this run was opened before this process was forked.",
                field="run",
                hint="Log in the process that opened it, or open a new run here.",
            )

    def is_of_this_process(self) -> bool:
        """Whether this process opened the run, rather than the process it was forked from."""
        return os.getpid() == self._pid


_open_senders: weakref.WeakSet[Sender] = weakref.WeakSet()


def _at_exit() -> None:
    """Send what is left for up to `AT_EXIT_S` in total; the rest goes to the spool."""
    until = time.monotonic() + AT_EXIT_S
    for sender in list(_open_senders):
        if sender.is_of_this_process():
            sender.close(retry_for_s=max(0.0, until - time.monotonic()))


atexit.register(_at_exit)


_MOST_SENT = 32 << 20
"""Bytes of a request, by the assumed bytes of its samples."""
_BYTES_OF_CLASSES = 8
"""Upper bound for a sample: its actual and predicted class as two numbers of 4 bytes."""
_BYTES_WITH_MORE = 64
"""Assumed for a sample that also has a set of labels, an id or slices; usually less."""
_BYTES_OF_FRAME = 1 << 20
"""Room in a chunk for what is not samples: names of columns, classes and slice values."""


def send_chunk(connection: Connection, run_id: str, seq: int, content: Any) -> None:
    """One attempt to store a chunk. Raises as `Connection.ask` does."""
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    connection.ask(
        "PUT",
        f"/runs/{run_id}/chunks/{seq}",
        content=memoryview(content).tobytes(),
        headers={"Content-Type": MEDIA_TYPE, "Content-Digest": f"sha-256=:{digest}:"},
    )


def send_closing(connection: Connection, run_id: str, n_chunks: int | None) -> str:
    """One attempt to close a run; its id. Raises as `Connection.ask` does."""
    body = Closing(n_chunks=n_chunks).model_dump_json()
    answer = ClosedRun.model_validate_json(connection.send("POST", f"/runs/{run_id}/finish", body))
    warn_of(answer.notices)
    return answer.id


def send_samples(connection: Connection, dataset: str, upload: str) -> LoggedSamples:
    """One attempt to store a chunk of content. Raises as `Connection.send` does."""
    answer = connection.send("POST", f"/datasets/{name_segment(dataset)}/samples", upload)
    return TypeAdapter(LoggedSamples).validate_json(answer)


def rows_in_request(batch: Batch) -> int:
    """How many samples like those of a batch are sent in one request.

    As many as a server takes: every request ends with a commit, which costs more than the samples
    of a small one. Samples with many scores or other data are fewer, so that a body that has to be
    sent again does not take long.
    """
    columns = 0 if batch.scores is None else batch.scores.n_columns
    has_more = batch.of_sets or batch.ids is not None or batch.slices
    sample_bytes = (_BYTES_WITH_MORE if has_more else _BYTES_OF_CLASSES) + 4 * columns
    sample_bytes += 0 if batch.weight is None else batch.weight.itemsize
    n_rows = max(1, min(MOST_ROWS, _MOST_SENT // sample_bytes))
    if batch.of_sets:
        n_rows = max(1, min(n_rows, MOST_CELLS // (8 * batch.predicted.shape[1])))
    sizes = _bytes_of_samples(batch)
    # Halving only if necessary keeps the chunks of a restarted job equal to those it sent before.
    while n_rows > 1 and _largest_sum(sizes, n_rows) > MOST_BYTES_SENT - _BYTES_OF_FRAME:
        n_rows //= 2
    return n_rows


def _bytes_of_samples(batch: Batch) -> NDArray[np.int64]:
    """Bytes of each sample in a chunk, without sets of labels, shape (n,)."""
    arrays = (batch.predicted, batch.actual, batch.weight)
    fixed = sum(array.itemsize for array in arrays if array is not None)
    fixed += 0 if batch.scores is None else batch.scores.values.itemsize * batch.scores.n_columns
    sizes = np.full(len(batch), fixed, dtype=np.int64)
    if batch.ids is not None:
        sizes += batch.ids.n_bytes()
    for column in batch.slices.values():
        if column.of_tags:
            # Sets of tags travel as text, other values as numbers of a dictionary.
            of_levels = [len(level.encode()) + _BYTES_OF_CLASSES for level in column.levels]
            sizes += np.array(of_levels, dtype=np.int64)[column.codes]
        else:
            sizes += column.codes.itemsize
    return sizes


def _largest_sum(sizes: NDArray[np.int64], n_rows: int) -> int:
    """The largest of the sums over consecutive chunks of `n_rows` samples."""
    if not len(sizes):
        return 0
    return int(np.add.reduceat(sizes, np.arange(0, len(sizes), n_rows)).max())
