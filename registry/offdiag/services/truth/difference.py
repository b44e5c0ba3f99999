"""What two versions of the labels of the same samples differ in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.inputs.ids import SampleIds
from offdiag.inputs.label_sets import set_text
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import count_labelled, differ, in_roomy_rows, is_labelled
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import unpack_sets


@dataclass(frozen=True, slots=True)
class Relabelled:
    """How many samples went from one class to another, or from one set of labels, as text.

    None is "no label".
    """

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
    codes, `len(labels)` standing for no label, or their packed sets. `ids` are the identifiers
    of these m samples, None where samples are known by their position.
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
        if not len(self):
            return ()
        sides = [
            each.reshape(len(self), -1).astype(np.int64) for each in (self.before, self.after)
        ]
        _, first, counts = np.unique(
            np.concatenate(sides, axis=1), axis=0, return_index=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")
        first = first[order]
        before, after = self._names(self.before[first]), self._names(self.after[first])
        return tuple(map(Relabelled, before, after, counts[order].tolist()))

    @property
    def n_corrected(self) -> int:
        """Samples that have another label than before."""
        return len(self) - self.n_newly_labelled - self.n_unlabelled

    @property
    def n_newly_labelled(self) -> int:
        """Samples that had no label."""
        return len(self) - count_labelled(self.before, len(self.labels))

    @property
    def n_unlabelled(self) -> int:
        """Samples that have no label any more."""
        return len(self) - count_labelled(self.after, len(self.labels))

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[ChangedSample]:
        """The changed samples one by one, or a part of them, in the order of the truth."""
        piece = slice(start, len(self) if stop is None else min(stop, len(self)))
        positions: list[int] = self.positions[piece].tolist()
        names: Sequence[int | str] = (
            positions if self.ids is None else self.ids.slice(piece.start, piece.stop).to_list()
        )
        before, after = self._names(self.before[piece]), self._names(self.after[piece])
        yield from map(ChangedSample, names, before, after)

    def _names(self, codes: Codes) -> list[str | None]:
        names = self.labels.names
        if are_sets(codes):
            members = unpack_sets(codes.astype(np.uint8), len(names))
            known = is_labelled(codes, len(names)).tolist()
            texts = [set_text(self.labels, row) for row in members]
            return [text if told else None for text, told in zip(texts, known, strict=True)]
        return [None if code == len(names) else names[code] for code in codes.tolist()]


def difference_between(
    before: Codes, after: Codes, *, labels: LabelSet, ids: SampleIds | None
) -> LabelDifference:
    """Compare two arrays of codes of the same n samples; `ids` names all n of them."""
    changed = np.flatnonzero(differ(before, after, len(labels))).astype(np.int64)
    return LabelDifference(
        labels,
        changed,
        in_roomy_rows(before[changed], len(labels)),
        in_roomy_rows(after[changed], len(labels)),
        None if ids is None else ids.take(changed),
    )
