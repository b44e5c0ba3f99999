"""Other predictions with the same confusion matrix: what a run needs to be one of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.services.ingest.batch import CHUNK_SIZE

Codes = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Shuffler:
    """Deals the answers anew among the cases of each actual class of each stored chunk.

    Counts of chunks and all that is computed from them stay as they are; which case was
    answered how, and with it every digest, becomes another.
    """

    actual: Codes

    def deal(self, predicted: Codes, rng: np.random.Generator) -> Codes:
        """As many answers, in another order. `predicted` has one code for each actual one."""
        dealt = np.empty_like(predicted)
        for start, by_class in self._chunks():
            part = slice(start, start + len(by_class))
            lots = rng.random(len(by_class), dtype=np.float32)
            shuffled = np.lexsort((lots, self.actual[part]))
            dealt[start + by_class] = predicted[part][shuffled]
        return dealt

    def _chunks(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Where each chunk starts, and its cases sorted by their class."""
        for start in range(0, len(self.actual), CHUNK_SIZE):
            part = self.actual[start : start + CHUNK_SIZE]
            yield start, np.argsort(part, kind="stable")
