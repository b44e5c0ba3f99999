"""Samples that were counted outside offdiag: the number of samples of each kind."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.runs import require_name
from offdiag.domain.slices import UNKNOWN
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_scores import CellColumns, GivenClassScores, cell_sums, event_sums
from offdiag.inputs.labels import Codes, code_dtype, require_equal_lengths
from offdiag.inputs.slice_columns import (
    SliceColumn,
    SliceColumns,
    alike_note,
    read_slices,
    sorted_levels,
    unknown_note,
)
from offdiag.metrics.confusion import LARGEST_TOTAL, ConfusionMatrix
from offdiag.metrics.scores.score_cells import (
    CellSums,
    ClassCells,
    EventSums,
    ScoreCells,
    class_cells,
    score_cells,
)

MAX_KINDS = 1_000_000
"""Limit on the combinations of classes and slice values that are stored with a run."""


@dataclass(frozen=True, eq=False)
class CountedSamples:
    """The number of samples of each kind.

    `sizes[i]` samples have actual class `actual[i]`, predicted class `predicted[i]` and the values
    at i of every slice column. Kinds are distinct, in order, and none is empty. With `scores`
    kinds also differ in the cell of the score of the positive class. `events` are the counted
    scores of each class against the rest and of the top label; empty if there are none.
    """

    actual: Codes
    predicted: Codes
    sizes: NDArray[np.int64]
    slices: SliceColumns
    scores: CellSums | None = None
    events: tuple[EventSums, ...] = ()

    def __len__(self) -> int:
        """The number of kinds of samples."""
        return len(self.sizes)

    @property
    def are_a_matrix(self) -> bool:
        """Whether a confusion matrix holds all of this information."""
        return not self.slices and self.scores is None and not self.events

    @property
    def score_columns(self) -> int:
        """How many scores per sample were counted."""
        return len(self.events) - 1 if self.events else int(self.scores is not None)

    def class_cells(self) -> ClassCells | None:
        """The scores of every class; None if there are none."""
        return class_cells(self.events[:-1], self.events[-1]) if self.events else None

    def score_cells(
        self, positive: int, members: NDArray[np.bool_] | None = None
    ) -> ScoreCells | None:
        """The scores of all samples, or of the kinds that `members` marks; None without scores."""
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
            # The last digits of sums depend on the order in which an engine adds.
            for values in (self.scores.code, self.scores.low, self.scores.high):
                content.update(values.tobytes())
        for event in self.events:
            content.update(event.happened.tobytes())
            content.update(event.sums.count.tobytes())
            for values in (event.sums.code, event.sums.low, event.sums.high):
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
    class_scores: GivenClassScores | None = None,
) -> CountedSamples:
    """Encode counts given as lists of one length, one entry for each kind of sample.

    Kinds that are equal as text (7 and "7") are added up. `scores` are those of the positive
    class. Raises `InvalidInput` for values that are no valid labels or not among `labels`, for
    invalid counts, for scores that contradict them, and for no samples at all.
    """
    counts = whole_sizes(sizes)
    require_equal_lengths(
        sizes=len(counts),
        actual=len(actual),
        predicted=len(predicted),
        **{f"slices[{name!r}]": len(values) for name, values in slices.items()},
        **{f"scores[{name!r}]": len(values) for name, values in (scores or {}).items()},
    )
    columns = slice_columns(slices)
    known = label_codes(actual, labels, "actual")
    sums = None
    if scores is not None:
        sums = cell_sums(scores, counts, known, labels=labels, positive_label=positive_label)
    found = label_codes(predicted, labels, "predicted")
    merged = merged_samples(known, found, counts, columns, sums)
    if class_scores is None:
        return merged
    if slices or scores is not None:
        raise InvalidInput(
            "per-class scores are counted over all samples, without slices.",
            field="slices" if slices else "scores",
            hint="Count slices in a run of their own, or keep the predictions.",
        )
    events = event_sums(class_scores, merged.matrix(labels).counts, labels)
    if sum(len(event.sums) for event in events) > MAX_KINDS:
        raise too_many_cells()
    return replace(merged, events=events)


def whole_sizes(sizes: Sequence[int]) -> NDArray[np.int64]:
    """The number of samples of each kind. Raises `InvalidInput` for invalid numbers."""
    given = np.asarray(sizes)
    if len(given) > MAX_KINDS:
        raise too_many_kinds(len(given))
    if given.dtype.kind not in "iu" or not len(given) or int(given.min()) < 1:
        raise InvalidInput(
            "there are no samples, or counts that are not whole numbers from 1.",
            field="sizes",
            hint="Count at least one sample.",
        )
    # A sum of Python integers cannot overflow.
    if sum(given.tolist()) >= LARGEST_TOTAL:
        raise InvalidInput(
            f"the counts add up to {LARGEST_TOTAL} or more.",
            field="sizes",
            hint="Check them; the total looks wrong.",
        )
    return given.astype(np.int64)


def slice_columns(slices: Mapping[str, Sequence[object]]) -> SliceColumns:
    """The slice columns of kinds, from one value or one list of tags per kind."""
    return {require_name(name, "slices"): _column(values, name) for name, values in slices.items()}


def counted_slice_notes(
    slices: Mapping[str, Sequence[object]], sizes: Sequence[int]
) -> tuple[str, ...]:
    """Notes on slice values, one per kind and column, that may not be meant as given."""
    counts = np.asarray(sizes, dtype=np.int64)
    notes = []
    for name, column in slice_columns(slices).items():
        field = f"slices[{name!r}]"
        notes.append(alike_note(column, field))
        if not column.of_tags:
            notes.append(unknown_note(int(counts[column.has(UNKNOWN)].sum()), field))
    return tuple(note for note in notes if note is not None)


def too_many_kinds(n_kinds: int) -> InvalidInput:
    """The error for counts with nearly as many kinds as samples."""
    return InvalidInput(
        f"there are {n_kinds} combinations of classes and slice values or more.",
        field="slices",
        hint=f"At most {MAX_KINDS} are kept; use fewer slices, or columns of fewer values.",
    )


def too_many_cells() -> InvalidInput:
    """The error for scores of so many classes that there are more cells than can be stored."""
    return InvalidInput(
        f"the scores of all classes are in more than {MAX_KINDS} bins.",
        field="score",
        hint="Round them, or keep the predictions.",
    )


def label_codes(values: Sequence[object], labels: LabelSet, field: str) -> Codes:
    """Codes of classes. Raises `InvalidInput` for values that are not among the labels."""
    places = [labels.code_of(value, field_name=field) for value in values]
    return np.array(places, dtype=code_dtype(len(labels)))


def _column(values: Sequence[object], name: str) -> SliceColumn:
    """A slice column with a value, or tags, for each kind."""
    if any(isinstance(value, list | tuple) for value in values):
        return read_slices({name: list(values)}, n_samples=len(values))[name]
    field = f"slices[{name!r}]"
    texts = [label_text(value, field_name=field) for value in values]
    levels = sorted(set(texts))
    place = {level: code for code, level in enumerate(levels)}
    return sorted_levels(levels, np.array([place[text] for text in texts]))


def merged_samples(
    actual: Codes,
    predicted: Codes,
    sizes: NDArray[np.int64],
    columns: SliceColumns,
    scores: CellSums | None = None,
) -> CountedSamples:
    """The kinds in order, with equal ones added up."""
    keys = [] if scores is None else [scores.code]
    first, places, totals = distinct_kinds([actual, predicted], sizes, columns, keys)
    return CountedSamples(
        actual[first],
        predicted[first],
        totals,
        {name: each.take(first) for name, each in sorted(columns.items())},
        None if scores is None else scores.grouped(places)[1],
    )


def distinct_kinds(
    codes: Sequence[NDArray[Any]],
    sizes: NDArray[np.int64],
    columns: SliceColumns,
    further: Sequence[NDArray[Any]] = (),
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """First position of each distinct kind, the kind of each entry, and the samples of each kind.

    Kinds are in the order of `codes`, then of the slice columns by name, then of `further`.
    """
    of_slices = [columns[name].codes for name in sorted(columns)]
    keys = np.stack([each.astype(np.int64) for each in (*codes, *of_slices, *further)])
    order = np.lexsort(keys[::-1])
    ordered = keys[:, order]
    is_new = np.ones(len(sizes), np.bool_)
    is_new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    places = np.empty(len(sizes), np.intp)
    places[order] = np.cumsum(is_new) - 1
    totals = np.zeros(int(is_new.sum()), np.int64)
    np.add.at(totals, places, sizes)
    return order[is_new], places, totals


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """The number of samples of each kind, with the predictions of several runs.

    `sizes[i]` samples have actual class `actual[i]`, the classes at i that each run predicts and
    the values at i of every slice column. Kinds are distinct, in order, and none is empty.
    """

    actual: Codes
    predicted: Mapping[str, Codes]
    sizes: NDArray[np.int64]
    slices: SliceColumns

    def __len__(self) -> int:
        """The number of kinds of samples."""
        return len(self.sizes)

    def of_run(self, run: str) -> CountedSamples:
        """The samples with the predictions of one run alone."""
        return merged_samples(self.actual, self.predicted[run], self.sizes, self.slices)


def paired_samples(
    *,
    actual: Sequence[object],
    predicted: Mapping[str, Sequence[object]],
    sizes: Sequence[int],
    slices: Mapping[str, Sequence[object]],
    labels: LabelSet,
) -> PairedSamples:
    """Encode counts in lists of one length, one entry for each kind; `predicted` is by run.

    Kinds that are equal as text are added up. Raises `InvalidInput` as `counted_samples` does.
    """
    counts = whole_sizes(sizes)
    require_equal_lengths(
        sizes=len(counts),
        actual=len(actual),
        **{f"predicted[{run!r}]": len(values) for run, values in predicted.items()},
        **{f"slices[{name!r}]": len(values) for name, values in slices.items()},
    )
    known = label_codes(actual, labels, "actual")
    found = {
        run: label_codes(values, labels, f"predicted[{run!r}]")
        for run, values in sorted(predicted.items())
    }
    columns = slice_columns(slices)
    first, _, totals = distinct_kinds([known, *found.values()], counts, columns)
    return PairedSamples(
        known[first],
        {run: codes[first] for run, codes in found.items()},
        totals,
        {name: column.take(first) for name, column in sorted(columns.items())},
    )
