"""Margins of every slice of one column and of every cross of two, in one pass over the codes.

For each slice it keeps the number of samples, how many are right, and for each class how many are
actual, predicted and both. That is enough for recall, precision and F1 of each class and for
accuracy, balanced accuracy, macro F1, MCC and kappa, and with K classes it is 3 K numbers where a
matrix has K².

Time grows with samples times pairs of columns, whatever the number of slices; memory with the
slices that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTS_VERSION = 1
"""Raised whenever the counts of the same columns may change; stored counts carry it."""
MIN_SAMPLES = 12
"""Samples below which a cross is not kept, and a slice is not compared with the rest."""
MOST_NUMBERS = 4_000_000
"""Numbers kept for all crosses together; if there are more, the largest crosses are kept."""
_BLOCK = 1 << 15
"""Samples counted at once: their codes and bins stay in the second-level cache."""
_MOST_BINS = 1 << 21
"""Bins of a pair of columns up to which every pair of values has its own."""
NO_PARENT = -1

CHOICE_AXIS = 0
"""Axis of `CodedColumn.of_level` along which the choice changes."""
LABEL_AXIS = -1
"""Axis of sets of labels along which the label changes."""
CONDITION_AXIS = -1
"""Axis of `members` along which the conditions of a slice change."""
NUMBER_AXIS = -1
"""Axis of numbers that holds samples, hits and the counts of classes."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A slice column: `codes` (n,) index `of_level`, which says which choices a level belongs to.

    `of_level` has shape (choices, levels), True if samples of the level are in the slice of
    the choice: a unit vector for a category, several choices for a set of tags.
    """

    name: str
    choices: tuple[str, ...]
    codes: NDArray[np.unsignedinteger[Any]]
    of_level: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Per-sample events to be counted, as parallel arrays: the sample and one of `n_bins`.

    `rows` is None if there is one event for each sample, in order.
    """

    rows: NDArray[np.int64] | None
    bins: NDArray[np.int64]
    n_bins: int


@dataclass(frozen=True, eq=False)
class SliceCounts:
    """Margins of S slices of n samples.

    `columns` name the choices of each column; choices are numbered through all of them, and
    `members` (S, 2) has the one or two choices of a slice, `NO_PARENT` in place of the second;
    with crosses of three columns it is (S, 3).
    Slices of one choice come first, in order. `numbers` (S, H, 2 + 3 K) are samples, correct ones,
    and per class actual, predicted and correct ones, for each of H disjoint parts of the samples
    (two random halves, or one part); `total` (H, 2 + 3 K) are those of all samples.
    `n_left_out` crosses had enough samples but are not kept.
    """

    columns: tuple[tuple[str, tuple[str, ...]], ...]
    members: NDArray[np.int32]
    numbers: NDArray[Any]
    total: NDArray[Any]
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.members)

    @property
    def n_classes(self) -> int:
        return int(self.total.shape[-1] - 2) // 3

    @cached_property
    def n_singles(self) -> int:
        """The number of slices of one column."""
        return sum(len(choices) for _, choices in self.columns)

    @cached_property
    def choice_names(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, choice) for name, choices in self.columns for choice in choices)

    def terms(self, place: int) -> tuple[tuple[str, str], ...]:
        """Column and value of each condition of a slice."""
        return tuple(self.choice_names[at] for at in self.members[place] if at != NO_PARENT)


def random_halves(places: NDArray[np.int64]) -> NDArray[Any]:
    """Which half each sample is in: a hash of its position, permanently equal for all runs.

    The finalizer of SplitMix64 (Steele, Lea and Flood 2014, OOPSLA).
    """
    mixed = places.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(63)).astype(np.uint8)


def outcomes_of_classes(
    actual: NDArray[Any],
    predicted: NDArray[Any],
    *,
    n_classes: int,
    part: NDArray[Any],
    n_parts: int,
) -> tuple[Outcomes, ...]:
    """Events of labelled samples with one class each; `part` (n,) is below `n_parts`."""
    true, found = actual.astype(np.int64), predicted.astype(np.int64)
    at = part.astype(np.int64)
    hit = (true == found).astype(np.int64)
    return (
        Outcomes(None, (at * 2 + hit) * n_classes + true, 2 * n_classes * n_parts),
        Outcomes(None, at * n_classes + found, n_classes * n_parts),
    )


def outcomes_of_sets(
    actual: NDArray[np.bool_], predicted: NDArray[np.bool_], *, part: NDArray[Any], n_parts: int
) -> tuple[Outcomes, ...]:
    """Events of samples with sets of q labels, (n, q) each."""
    n_labels = actual.shape[-1]
    at = part.astype(np.int64)
    true_rows, true = np.nonzero(actual)
    found_rows, found = np.nonzero(predicted)
    hit = predicted[true_rows, true].astype(np.int64)
    right = (actual == predicted).all(axis=LABEL_AXIS).astype(np.int64)
    return (
        Outcomes(true_rows, (at[true_rows] * 2 + hit) * n_labels + true, 2 * n_labels * n_parts),
        Outcomes(found_rows, at[found_rows] * n_labels + found, n_labels * n_parts),
        Outcomes(None, at * 2 + right, 2 * n_parts),
    )


def count_slices(
    columns: Sequence[CodedColumn],
    outcomes: Sequence[Outcomes],
    *,
    n_samples: int,
    n_parts: int = 1,
    sizes: NDArray[Any] | None = None,
    min_samples: int = MIN_SAMPLES,
) -> SliceCounts:
    """Count every slice of one column, and every cross of two with `min_samples` or more.

    `sizes` (n,) are numbers of samples of a kind, int64, or weights, float64; None if each is one.
    Whole numbers are exact below 2**53 samples. Two tags of one column are not crossed.
    """
    events = _Events(outcomes, n_parts, sizes)
    total = events.margins(np.zeros(n_samples, dtype=np.uint8), 1)
    numbers, members, coded = [], [], []
    first = 0
    for at, column in enumerate(columns):
        of_levels = events.margins(column.codes, column.of_level.shape[1])
        found = np.einsum("cl,lhf->chf", column.of_level.astype(total.dtype), of_levels)
        choices = np.arange(first, first + len(column.choices))
        numbers.append(found)
        members.append(np.stack([choices, np.full_like(choices, NO_PARENT)], axis=CONDITION_AXIS))
        enough = np.einsum("ch->c", found[..., 0]) >= min_samples
        coded += _coded(column, at, choices, enough)
        first += len(choices)
    room, n_left_out = MOST_NUMBERS // total.size, 0
    for one, other in combinations(coded, 2):
        if one.column == other.column:
            continue
        crosses, found = events.crosses(one, other, min_samples)
        if len(crosses) > room:
            n_left_out += len(crosses) - room
            kept = np.sort(np.argsort(-np.einsum("ch->c", found[..., 0]), kind="stable")[:room])
            crosses, found = crosses[kept], found[kept]
        room -= len(crosses)
        members.append(crosses)
        numbers.append(found)
    none = np.zeros((0, 2), dtype=np.int32)
    return SliceCounts(
        tuple((column.name, column.choices) for column in columns),
        np.concatenate([none, *members]).astype(np.int32),
        np.concatenate([total[:0], *numbers]),
        total[0],
        n_left_out,
    )


def count_triples(
    columns: Sequence[CodedColumn],
    outcomes: Sequence[Outcomes],
    *,
    n_samples: int,
    n_parts: int = 1,
    sizes: NDArray[Any] | None = None,
    min_samples: int = MIN_SAMPLES,
) -> SliceCounts:
    """Count three columns as `count_slices` does, with every cross of all three.

    Time grows as for a pair of columns, where the crosses of two count as one column.
    """
    options: dict[str, Any] = {"n_parts": n_parts, "sizes": sizes, "min_samples": min_samples}
    found = count_slices(columns, outcomes, n_samples=n_samples, **options)
    events = _Events(outcomes, n_parts, sizes)
    large = np.einsum("sh->s", found.numbers[: found.n_singles, :, 0]) >= min_samples
    coded, first = [], 0
    for at, column in enumerate(columns):
        places = np.arange(first, first + len(column.choices))
        coded.append(_coded(column, at, places, large[places]))
        first += len(places)
    members = [np.pad(found.members, ((0, 0), (0, 1)), constant_values=NO_PARENT)]
    numbers = [found.numbers]
    for one, other, third in product(*coded):
        pairs, joined = _joined(one, other)
        if not len(pairs):
            continue
        crosses, counted = events.crosses(joined, third, min_samples)
        members.append(np.column_stack([pairs[crosses[:, 0]], crosses[:, 1]]))
        numbers.append(counted)
    return replace(
        found,
        members=np.concatenate(members).astype(np.int32),
        numbers=np.concatenate(numbers),
    )


def _joined(one: _Coded, other: _Coded) -> tuple[Ints, _Coded]:
    """Merge two columns: the choices (P, 2) of each pair that occurs, and a column of pairs."""
    width = len(other.choices) + 1
    joint = one.codes.astype(np.int64) * width + other.codes
    pairs = np.unique(joint)
    pairs = pairs[(pairs // width > 0) & (pairs % width > 0)]
    at = np.searchsorted(pairs, joint)
    at[at == len(pairs)] = 0
    is_pair = pairs[at] == joint if len(pairs) else np.zeros(len(joint), dtype=np.bool_)
    codes = np.where(is_pair, at + 1, 0).astype(np.uint32)
    names = (one.choices[pairs // width - 1], other.choices[pairs % width - 1])
    return np.column_stack(names), _Coded(one.column, np.arange(len(pairs)), codes)


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column prepared for crosses: `codes` (n,) from 1 on index `choices`, 0 is in none."""

    column: int
    choices: Ints
    codes: NDArray[np.unsignedinteger[Any]]


def _coded(column: CodedColumn, at: int, choices: Ints, enough: NDArray[np.bool_]) -> list[_Coded]:
    """Choices with enough samples: together if each sample has at most one, else one by one."""
    of_level = column.of_level[enough]
    if not len(of_level):
        return []
    if np.einsum("cl->l", of_level.astype(np.int64)).max() <= 1:
        place = np.where(of_level.any(axis=CHOICE_AXIS), of_level.argmax(axis=CHOICE_AXIS) + 1, 0)
        narrow = np.uint8 if len(of_level) < 256 else np.uint16
        return [_Coded(at, choices[enough], place.astype(narrow)[column.codes])]
    return [
        _Coded(at, choices[enough][[k]], of_level[k].astype(np.uint8)[column.codes])
        for k in range(len(of_level))
    ]


@dataclass(frozen=True, eq=False)
class _Events:
    outcomes: Sequence[Outcomes]
    n_parts: int
    sizes: NDArray[Any] | None

    def margins(self, codes: NDArray[Any], n_levels: int) -> NDArray[Any]:
        """The numbers (n_levels, H, 2 + 3 K) of the samples of each level."""
        per_outcome = [self._count(codes, n_levels, each) for each in self.outcomes]
        by_hit = per_outcome[0].reshape(n_levels, self.n_parts, 2, -1)
        correct, actual = by_hit[:, :, 1], by_hit[:, :, 0] + by_hit[:, :, 1]
        predicted = per_outcome[1].reshape(n_levels, self.n_parts, -1)
        if len(per_outcome) == 2:
            counted, right = np.einsum("lhk->lh", actual), np.einsum("lhk->lh", correct)
        else:
            by_right = per_outcome[2].reshape(n_levels, self.n_parts, 2)
            counted, right = by_right[..., 0] + by_right[..., 1], by_right[..., 1]
        heads = (counted[..., np.newaxis], right[..., np.newaxis])
        return np.concatenate([*heads, actual, predicted, correct], axis=NUMBER_AXIS)

    def crosses(self, one: _Coded, other: _Coded, min_samples: int) -> tuple[Ints, NDArray[Any]]:
        """Pairs of choices (c, 2) that have enough samples, and their numbers."""
        width = len(other.choices) + 1
        n_pairs = (len(one.choices) + 1) * width
        kind = np.dtype(np.int32 if n_pairs < 1 << 31 else np.int64)
        joint = one.codes.astype(kind)
        joint *= width
        joint += other.codes.astype(kind, copy=False)
        pairs = np.arange(n_pairs)
        if n_pairs * sum(each.n_bins for each in self.outcomes) > _MOST_BINS:
            # Few of so many pairs occur in enough samples: number those that do.
            pairs, joint = self._frequent(joint, width, min_samples)
        found = self.margins(joint, len(pairs))
        kept = (pairs // width > 0) & (pairs % width > 0)
        kept &= np.einsum("ch->c", found[..., 0]) >= min_samples
        chosen = pairs[kept]
        names = (one.choices[chosen // width - 1], other.choices[chosen % width - 1])
        return np.stack(names, axis=CONDITION_AXIS), found[kept]

    def _frequent(
        self, joint: NDArray[np.signedinteger[Any]], width: int, min_samples: int
    ) -> tuple[Ints, NDArray[np.int32]]:
        pairs, codes, counts = np.unique(joint, return_inverse=True, return_counts=True)
        if self.sizes is not None:
            counts = np.bincount(codes, weights=self.sizes)
        kept = (counts >= min_samples) & (pairs // width > 0) & (pairs % width > 0)
        place = np.where(kept, np.cumsum(kept), 0)
        return np.append([0], pairs[kept]).astype(np.int64), place[codes].astype(np.int32)

    def _count(self, codes: NDArray[Any], n_levels: int, outcome: Outcomes) -> NDArray[Any]:
        total: NDArray[Any] = np.zeros(n_levels * outcome.n_bins, dtype=self._dtype)
        for start in range(0, len(outcome.bins), _BLOCK):
            block = slice(start, start + _BLOCK)
            rows = block if outcome.rows is None else outcome.rows[block]
            cells = codes[rows].astype(np.int64)
            cells *= outcome.n_bins
            cells += outcome.bins[block]
            weights = None if self.sizes is None else self.sizes[rows]
            found = np.bincount(cells, weights, minlength=len(total))
            total += found.astype(self._dtype, copy=False)
        return total

    @property
    def _dtype(self) -> np.dtype[Any]:
        is_weighted = self.sizes is not None and self.sizes.dtype.kind == "f"
        return np.dtype(np.float64 if is_weighted else np.int64)
