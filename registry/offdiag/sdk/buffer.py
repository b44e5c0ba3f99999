"""Collecting small batches into chunks of the stored size."""

from __future__ import annotations

from collections.abc import Callable

from offdiag.services.ingest.batch import CHUNK_SIZE, Batch, concatenated, require_alike


class ChunkBuffer:
    """Cuts a stream of batches into full chunks, and hands each to `put` with its number.

    A chunk leaves the buffer only after `put` returned. What is cut depends on the order of
    the cases alone, so that a repeated attempt sends the same bytes under the same number.
    """

    def __init__(
        self,
        put: Callable[[int, Batch], None],
        size_for: Callable[[Batch], int] = lambda _: CHUNK_SIZE,
    ) -> None:
        """`size_for` says how many cases like those of the first batch make a chunk."""
        self._put = put
        self._size_for = size_for
        self._size = CHUNK_SIZE
        self._waiting: list[Batch] = []
        self._n_waiting = 0
        self._seq = 0

    def add(self, batch: Batch) -> None:
        """Take one batch and hand on the chunks that are full.

        Raises `InvalidInput`, and takes nothing, when the batch carries other arrays than the
        ones before it.
        """
        if self._waiting:
            require_alike(self._waiting[0], batch)
        elif self._seq == 0:
            self._size = self._size_for(batch)
        self._waiting.append(batch)
        self._n_waiting += len(batch)
        while self._n_waiting >= self._size:
            self._hand_on(self._size)

    @property
    def n_chunks(self) -> int:
        """Chunks handed on so far."""
        return self._seq

    def flush(self) -> None:
        """Hand on what is left: a chunk that is not full, behind any that could not leave."""
        while self._waiting:
            self._hand_on(self._size)

    def _hand_on(self, size: int) -> None:
        everything = concatenated(self._waiting)
        self._waiting = [everything]
        self._put(self._seq, everything.slice(0, size))
        self._seq += 1
        rest = everything.slice(size, len(everything))
        self._waiting = [rest] if len(rest) else []
        self._n_waiting = len(rest)
