"""A run that takes predictions batch by batch and stores them in chunks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

import numpy as np

from offdiag.domain.look_alikes import warn_of
from offdiag.errors import Conflict
from offdiag.sdk.registry import OpenedRun, Registry
from offdiag.sdk.run import Run
from offdiag.services.ingest.batch import (
    CHUNK_SIZE,
    Batch,
    concatenated,
    read_batch,
    require_alike,
)


class ChunkBuffer:
    """Cuts a stream of batches into full chunks, and passes each to `put` with its number.

    A chunk leaves the buffer only after `put` returned. The cuts depend only on the order of the
    samples, so a repeated attempt sends the same bytes under the same number.
    """

    def __init__(
        self,
        put: Callable[[int, Batch], None],
        size_for: Callable[[Batch], int] = lambda _: CHUNK_SIZE,
    ) -> None:
        """`size_for` returns the number of samples in a chunk, given the first batch."""
        self._put = put
        self._size_for = size_for
        self._size = CHUNK_SIZE
        self._waiting: list[Batch] = []
        self._n_waiting = 0
        self._seq = 0
        self._first: Batch | None = None

    def add(self, batch: Batch) -> None:
        """Take one batch and pass on the chunks that are full.

        Raises `InvalidInput`, and takes nothing, if the batch has other arrays than earlier
        batches.
        """
        if self._first is None:
            self._first = batch.take(np.array([0]))
            self._size = self._size_for(batch)
        require_alike(self._first, batch)
        self._waiting.append(batch)
        self._n_waiting += len(batch)
        while self._n_waiting >= self._size:
            self._hand_on(self._size)

    @property
    def n_chunks(self) -> int:
        """Number of chunks passed on so far."""
        return self._seq

    def flush(self) -> None:
        """Pass on everything that is left, including a last chunk that is not full."""
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


class OpenRun(Run):
    """A run that takes predictions batch by batch, returned by `start_run`.

    Use it in a `with` block. Leaving the block finishes the run. An exception leaves the run open
    with the batches stored so far, so that a partial run is never mistaken for a complete one.
    """

    def __init__(self, registry: Registry, opened: OpenedRun) -> None:
        super().__init__(registry, opened.run_id)
        self._opened = opened
        self._buffer = ChunkBuffer(opened.put, opened.chunk_size)
        self._lock = Lock()
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._opened.leave()
        elif not self._finished:
            self.finish()

    def log(
        self,
        *,
        y_pred: object | None = None,
        y_true: object | None = None,
        y_score: object | None = None,
        sample_ids: object | None = None,
        slices: object | None = None,
        sample_weight: object | None = None,
    ) -> None:
        """Add one batch of n predictions.

        * `y_pred`: the predicted labels. Without them `y_score` predicts, as in `log_run`.
        * `y_true`: the actual labels. Leave them out of every batch if the dataset has ground
          truth already, or if labels come later.
        * `y_score`, `sample_ids`, `slices`: of the samples of this batch, as in `log_run`.
        * `sample_weight`: the weights of these samples, given with every batch or with none.

        A batch with an error is refused as a whole. Raises `InvalidInput`, and `Conflict` after
        `finish()`.
        """
        if self._finished:
            raise Conflict(
                f"run {self.id} is finished and cannot be changed.",
                field="run",
                hint="Start a new run for more predictions.",
            )
        if not self._opened.keeps:
            return
        batch = read_batch(
            y_pred=y_pred,
            y_true=y_true,
            y_score=y_score,
            ids=sample_ids,
            slices=slices,
            sample_weight=sample_weight,
            labels=self._opened.labels,
            positive_label=self._opened.positive_label,
        )
        warn_of(batch.notes)
        with self._lock:
            self._buffer.add(batch)

    def finish(self) -> Run:
        """Store what is buffered and close the run. A second call changes nothing."""
        with self._lock:
            if not self._finished:
                self._buffer.flush()
                self.id = self._opened.finish(self._buffer.n_chunks)
                self._finished = True
        return Run(self._registry, self.id)
