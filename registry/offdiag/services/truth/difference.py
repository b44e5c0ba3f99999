"""What two versions of the labels of the same samples differ in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.ids import SampleIds
from offdiag.arrays.labels import Codes
from offdiag.domain.labels import LabelSet


@dataclass(frozen=True, slots=True)
class Relabelled:
    """How many samples went from one class to another; None is "no label"."""

    before: str | None
    after: str | None
    n: int


@dataclass(frozen=True, slots=True)
class ChangedSample:
    """One sample, named by its identifier or its position, and its two labels."""

    sample: int | str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class LabelDifference:
    """The samples whose labels differ.

    `positions` are their places in the truth, ascending, shape (m,); `before` and `after` their
    codes, `len(labels)` standing for no label. `ids` are the identifiers of these m samples,
    None where samples are known by their position.
    """

    labels: LabelSet
    positions: NDArray[np.int64]
    before: Codes
    after: Codes
    ids: SampleIds | None

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def moves(self) -> tuple[Relabelled, ...]:
        """Every pair of classes that a label moved between, the most frequent first."""
        step = len(self.labels) + 1
        pairs = self.before.astype(np.int64) * step + self.after
        found, counts = np.unique(pairs, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return tuple(
            Relabelled(
                self._name(int(found[place]) // step),
                self._name(int(found[place]) % step),
                int(counts[place]),
            )
            for place in order
        )

    @property
    def n_corrected(self) -> int:
        """Samples that have another label than before."""
        return len(self) - self.n_newly_labelled - self.n_unlabelled

    @property
    def n_newly_labelled(self) -> int:
        """Samples that had no label."""
        return int(np.count_nonzero(self.before == len(self.labels)))

    @property
    def n_unlabelled(self) -> int:
        """Samples that have no label any more."""
        return int(np.count_nonzero(self.after == len(self.labels)))

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[ChangedSample]:
        """The changed samples one by one, or a part of them, in the order of the truth."""
        piece = slice(start, len(self) if stop is None else min(stop, len(self)))
        positions: list[int] = self.positions[piece].tolist()
        names: Sequence[int | str] = (
            positions if self.ids is None else self.ids.slice(piece.start, piece.stop).to_list()
        )
        before, after = self.before[piece].tolist(), self.after[piece].tolist()
        for name, was, now in zip(names, before, after, strict=True):
            yield ChangedSample(name, self._name(was), self._name(now))

    def _name(self, code: int) -> str | None:
        return None if code == len(self.labels) else self.labels.names[code]


def difference_between(
    before: Codes, after: Codes, *, labels: LabelSet, ids: SampleIds | None
) -> LabelDifference:
    """Compare two arrays of codes of the same n samples; `ids` names all n of them."""
    changed = np.flatnonzero(before != after).astype(np.int64)
    return LabelDifference(
        labels,
        changed,
        before[changed],
        after[changed],
        None if ids is None else ids.take(changed),
    )
