"""The predictions of a run beside the truth: counted, and with their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import is_labelled, masked
from offdiag.metrics.counted import CaseCounts, added_up, count_cases
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.metrics.multilabel.suite import LabelledSets
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.store import predictions, truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.predictions import PackedCounts, StoredChunk
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


@dataclass(frozen=True)
class Cases:
    """The predictions of a run beside the truth; `members` says which samples are meant."""

    session: Session
    run: RunRecord
    truth: TruthRecord
    n_classes: int
    members: NDArray[np.bool_] | None
    of_sets: bool = False

    def count(self) -> tuple[CaseCounts, tuple[PackedCounts, ...]]:
        """Counts of the cases that have a label.

        With them come the counts that chunks should keep and do not: those that were dropped,
        to be rebuilt from the predictions.
        """
        if not self.are_as_logged:
            return self._counted_anew(), ()
        parts = predictions.partial_counts(self.session, self.run.id, n_classes=self.n_classes)
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return self._sum(known), ()
        packed = []
        counted = []
        for chunk in self._chunks():
            counts = self._counts_of(chunk) if chunk.counts is None else chunk.counts
            counted.append(counts)
            if chunk.counts is None:
                packed.append(predictions.pack_counts(chunk.seq, counts, chunk.predicted))
        return self._sum(counted), tuple(part for part in packed if part is not None)

    @property
    def are_as_logged(self) -> bool:
        """Whether these are the cases and the truth that the counts of chunks are of."""
        return self.members is None and self.truth.id == self.run.truth_version_id

    def forecasts(self, dataset: DatasetRecord) -> Forecasts | None:
        """Scores of the cases that have a label, in the order they were logged in."""
        scores = predictions.read_scores(self.session, self.run.id)
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

    def sets(self) -> LabelledSets:
        """The sets of the cases whose truth is known, in the order they were logged in."""
        actual, predicted, known = [], [], []
        for chunk in self._chunks():
            true = chunk.actual_in(self.actual)
            is_known = is_labelled(true, self.n_classes)
            known.append(is_known)
            actual.append(unpack_sets(true[is_known], self.n_classes))
            predicted.append(unpack_sets(chunk.predicted[is_known], self.n_classes))
        scores = predictions.read_scores(self.session, self.run.id)
        return LabelledSets(
            np.concatenate(actual),
            np.concatenate(predicted),
            None if scores is None else scores[np.concatenate(known)],
        )

    @cached_property
    def actual(self) -> Codes:
        """Codes of all samples; those that are not meant are as if they had no label."""
        codes = truths.truth_codes(self.session, self.truth.id)
        if self.members is None:
            return codes
        return masked(codes, self.members, self.n_classes)

    def _counted_anew(self) -> CaseCounts:
        return self._sum(self._counts_of(chunk) for chunk in self._chunks())

    def _counts_of(self, chunk: StoredChunk) -> CaseCounts:
        return count_cases(chunk.actual_in(self.actual), chunk.predicted, n_classes=self.n_classes)

    def _sum(self, parts: Iterable[CaseCounts]) -> CaseCounts:
        return added_up(parts, n_classes=self.n_classes, of_sets=self.of_sets)

    def _chunks(self) -> Iterator[StoredChunk]:
        return predictions.read_chunks(self.session, self.run.id, n_classes=self.n_classes)
