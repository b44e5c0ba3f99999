"""Cases that were counted where they lie: how many there are of each kind."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.runs import require_name
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import CellColumns, cell_sums
from offdiag.inputs.labels import Codes, code_dtype, require_equal_lengths
from offdiag.inputs.slice_columns import SliceColumn, SliceColumns, read_slices, sorted_levels
from offdiag.metrics.confusion import LARGEST_TOTAL, ConfusionMatrix
from offdiag.metrics.scores.cells import CellSums, ScoreCells, score_cells

MAX_KINDS = 1_000_000
"""Most combinations of classes and slice values that are kept with a run."""


@dataclass(frozen=True, eq=False)
class CountedSamples:
    """`sizes[i]` cases have actual class `actual[i]`, predicted class `predicted[i]` and the
    values at i of every slice column. Kinds are distinct, in order, and none is empty. With
    `scores` kinds differ in the cell of the score of the positive class, too.
    """

    actual: Codes
    predicted: Codes
    sizes: NDArray[np.int64]
    slices: SliceColumns
    scores: CellSums | None = None

    def __len__(self) -> int:
        """How many kinds of samples there are."""
        return len(self.sizes)

    @property
    def are_a_matrix(self) -> bool:
        """Whether a confusion matrix says all of it."""
        return not self.slices and self.scores is None

    def score_cells(
        self, positive: int, members: NDArray[np.bool_] | None = None
    ) -> ScoreCells | None:
        """The scores of all samples, or of the kinds that `members` marks; None without any."""
        if self.scores is None or (members is not None and not members.any()):
            return None
        chosen = np.ones(len(self), dtype=np.bool_) if members is None else members
        return score_cells(self.scores.take(chosen), self.actual[chosen] == positive)

    def matrix(
        self, labels: LabelSet, members: NDArray[np.bool_] | None = None
    ) -> ConfusionMatrix:
        """The matrix of all samples, or of the kinds that `members` marks, shape (n_kinds,)."""
        chosen = slice(None) if members is None else members
        counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(counts, (self.actual[chosen], self.predicted[chosen]), self.sizes[chosen])
        return ConfusionMatrix(counts, labels)

    def digest(self, labels: LabelSet) -> str:
        """SHA-256 over the counts of all kinds: equal counts have equal digests."""
        content = hashlib.sha256(b"offdiag counted cases 1")
        content.update(labels.digest.encode())
        for part in (self.actual, self.predicted, self.sizes):
            content.update(part.tobytes())
        for name in sorted(self.slices):
            column = self.slices[name]
            kind = ("tags",) if column.of_tags else ()
            content.update(repr((name, column.levels, *kind)).encode())
            content.update(column.codes.tobytes())
        if self.scores is not None:
            # Sums differ in their last digits with the order in which an engine adds.
            for values in (self.scores.code, self.scores.low, self.scores.high):
                content.update(values.tobytes())
        return content.hexdigest()


def counted_samples(
    *,
    actual: Sequence[object],
    predicted: Sequence[object],
    sizes: Sequence[int],
    slices: Mapping[str, Sequence[object]],
    labels: LabelSet,
    scores: CellColumns | None = None,
    positive_label: str | None = None,
) -> CountedSamples:
    """Encode counts that stand in lists of one length, one entry for each kind of case.

    Kinds that are the same as text (7 and "7") are added up. `scores` are those of the positive
    class. Raises `InvalidInput` for values that are no labels or not among
    these, for counts that are none, for scores that contradict them, and for nothing at all.
    """
    given = np.asarray(sizes)
    if len(given) > MAX_KINDS:
        raise too_many_kinds(len(given))
    if given.dtype.kind not in "iu" or not len(given) or int(given.min()) < 1:
        raise InvalidInput(
            "there are no samples, or counts that are no whole numbers from 1.",
            field="sizes",
            hint="Count at least one sample.",
        )
    # The sum of Python numbers cannot wrap.
    if sum(given.tolist()) >= LARGEST_TOTAL:
        raise InvalidInput(
            f"the counts add up to {LARGEST_TOTAL} or more.",
            field="sizes",
            hint="So many samples cannot be told apart from a mistake.",
        )
    require_equal_lengths(
        sizes=len(given),
        actual=len(actual),
        predicted=len(predicted),
        **{f"slices[{name!r}]": len(values) for name, values in slices.items()},
        **{f"scores[{name!r}]": len(values) for name, values in (scores or {}).items()},
    )
    columns = {
        require_name(name, "slices"): _column(values, name) for name, values in slices.items()
    }
    known, counts = _codes(actual, labels, "actual"), given.astype(np.int64)
    sums = None
    if scores is not None:
        sums = cell_sums(scores, counts, known, labels=labels, positive_label=positive_label)
    return _merged(known, _codes(predicted, labels, "predicted"), counts, columns, sums)


def too_many_kinds(n_kinds: int) -> InvalidInput:
    """The error for counts that are nearly as many as the samples."""
    return InvalidInput(
        f"there are {n_kinds} combinations of classes and slice values or more.",
        field="slices",
        hint=f"At most {MAX_KINDS} are kept; take fewer slices, or columns of fewer values.",
    )


def _codes(values: Sequence[object], labels: LabelSet, field: str) -> Codes:
    places = [labels.code_of(value, field_name=field) for value in values]
    return np.array(places, dtype=code_dtype(len(labels)))


def _column(values: Sequence[object], name: str) -> SliceColumn:
    """A value for each kind, or its tags."""
    if any(isinstance(value, list | tuple) for value in values):
        return read_slices({name: list(values)}, n_samples=len(values))[name]
    field = f"slices[{name!r}]"
    texts = [label_text(value, field_name=field) for value in values]
    levels = sorted(set(texts))
    place = {level: code for code, level in enumerate(levels)}
    return sorted_levels(levels, np.array([place[text] for text in texts]))


def _merged(
    actual: Codes,
    predicted: Codes,
    sizes: NDArray[np.int64],
    columns: SliceColumns,
    scores: CellSums | None,
) -> CountedSamples:
    names = sorted(columns)
    keys = np.stack(
        [actual.astype(np.int64), predicted.astype(np.int64)]
        + [columns[name].codes.astype(np.int64) for name in names]
        + ([] if scores is None else [scores.code.astype(np.int64)])
    )
    kinds, places = np.unique(keys, return_inverse=True, axis=-1)
    totals = np.zeros(kinds.shape[-1], dtype=np.int64)
    np.add.at(totals, places.reshape(-1), sizes)
    merged = {
        name: replace(columns[name], codes=row.astype(columns[name].codes.dtype))
        for name, row in zip(names, kinds[2:], strict=False)
    }
    return CountedSamples(
        kinds[0].astype(actual.dtype),
        kinds[1].astype(predicted.dtype),
        totals,
        merged,
        None if scores is None else scores.grouped(places.reshape(-1))[1],
    )
