"""A run that takes predictions batch by batch, cut into chunks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

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
    """Cuts a stream of batches into full chunks, and hands each to `put` with its number.

    A chunk leaves the buffer only after `put` returned. What is cut depends on the order of
    the samples alone, so that a repeated attempt sends the same bytes under the same number.
    """

    def __init__(
        self,
        put: Callable[[int, Batch], None],
        size_for: Callable[[Batch], int] = lambda _: CHUNK_SIZE,
    ) -> None:
        """`size_for` says how many samples like those of the first batch make a chunk."""
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


class OpenRun(Run):
    """A run that takes predictions batch by batch.

    Use it in a `with` block: leaving the block finishes the run; an exception leaves it open,
    with the batches stored so far, so that a half-done run is never mistaken for a whole one.
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
        """Add one batch of n predictions, made from `y_score` as by `log_run` without `y_pred`.

        `y_true` may be left out in every batch when the dataset has ground truth already, or
        when labels will come later. `slices` are columns of the batch, as `log_run` takes them;
        `sample_weight` are the weights of its samples, given with every batch or with none.
        A batch with an error is refused as a whole. Raises `InvalidInput`, and `Conflict`
        after `finish()`.
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
        """Store what is buffered and close the run. Finishing twice is the same as once."""
        with self._lock:
            if not self._finished:
                self._buffer.flush()
                self.id = self._opened.finish(self._buffer.n_chunks)
                self._finished = True
        return Run(self._registry, self.id)
