"""The predictions of a run beside the truth: counted, and with their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.labels import Codes
from offdiag.arrays.partial_labels import nothing_labelled
from offdiag.metrics.counting import count_labelled_pairs
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.store import chunks, truths
from offdiag.store.chunks import PackedCounts, StoredChunk
from offdiag.store.datasets import DatasetRecord
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truth_versions import TruthRecord


@dataclass(frozen=True)
class Cases:
    """The predictions of a run beside the truth; `members` says which samples are meant."""

    session: Session
    run: RunRecord
    truth: TruthRecord
    n_classes: int
    members: NDArray[np.bool_] | None

    def count(self) -> tuple[NDArray[np.int64], tuple[PackedCounts, ...]]:
        """The matrix of the cases that have a label, (K, K).

        With it come the partial matrices that chunks should keep and do not: those that were
        dropped, to be rebuilt from the predictions.
        """
        if not self.are_as_logged:
            return self._counted_anew(), ()
        parts = chunks.partial_counts(self.session, self.run.id, n_classes=self.n_classes)
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return self._sum(known), ()
        packed = []
        total = self._sum([])
        for chunk in self._chunks():
            counts = self._counts_of(chunk) if chunk.counts is None else chunk.counts
            total += counts
            if chunk.counts is None:
                packed.append(chunks.pack_counts(chunk.seq, counts, chunk.predicted))
        return total, tuple(part for part in packed if part is not None)

    @property
    def are_as_logged(self) -> bool:
        """Whether these are the cases and the truth that partial matrices are of."""
        return self.members is None and self.truth.id == self.run.truth_version_id

    def forecasts(self, dataset: DatasetRecord) -> Forecasts | None:
        """Scores of the cases that have a label, in the order they were logged in."""
        scores = chunks.read_scores(self.session, self.run.id)
        if scores is None:
            return None
        actual = np.concatenate([chunk.actual_in(self.actual) for chunk in self._chunks()])
        labelled = actual < self.n_classes
        positive = dataset.positive_label
        return Forecasts(
            actual if labelled.all() else actual[labelled],
            scores if labelled.all() else scores[labelled],
            n_classes=self.n_classes,
            positive=None if positive is None else dataset.labels.index[positive],
        )

    @cached_property
    def actual(self) -> Codes:
        """Codes of all samples; those that are not meant are as if they had no label."""
        codes = truths.truth_codes(self.session, self.truth.id)
        if self.members is None:
            return codes
        none = nothing_labelled(len(codes), self.n_classes)
        return np.where(self.members, codes, none)

    def _counted_anew(self) -> NDArray[np.int64]:
        return self._sum(self._counts_of(chunk) for chunk in self._chunks())

    def _counts_of(self, chunk: StoredChunk) -> NDArray[np.int64]:
        return count_labelled_pairs(
            chunk.actual_in(self.actual), chunk.predicted, n_classes=self.n_classes
        )

    def _sum(self, parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        total = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        for part in parts:
            total += part
        return total

    def _chunks(self) -> Iterator[StoredChunk]:
        return chunks.read_chunks(self.session, self.run.id, n_classes=self.n_classes)
