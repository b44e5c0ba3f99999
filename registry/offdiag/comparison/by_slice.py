"""Two runs compared on all samples and on each slice, judged together.

Shares of correct predictions are compared, for all samples of a part and for each of its classes:
McNemar's mid-p (Fagerland, Lydersen and Laake 2013) and Tango's score interval. Half of the error
rate goes to the parts, all slices of all columns and the whole, which is their parent, and half to
their classes, each by Holm's adjustment; without classes the parts have all of it. Between equally
good runs, anything is called different in at most 5 % of comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison import texts
from offdiag.comparison.differences import MetricDifference, judged_change
from offdiag.domain.number_text import count
from offdiag.domain.sentences import listed
from offdiag.domain.values import MetricValue
from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.joint_counts import PairedRates

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class PartCounts:
    """Samples of a part of the data by which of the two runs is correct."""

    both_right: int
    only_first: int
    only_second: int
    total: int


@dataclass(frozen=True, slots=True)
class PartChange:
    """Accuracy of both runs on a part, or recall of one of its classes.

    `slice` is None for all samples, `label` for all classes. `p_adjusted` of `change` accounts
    for everything that is tested, and its simultaneous interval agrees with that.
    """

    slice: str | None
    label: str | None
    counts: PartCounts
    change: MetricDifference

    @property
    def name(self) -> str:
        """The part as named in a sentence or a line."""
        where = "all" if self.slice is None else self.slice
        return where if self.label is None else f"{self.label} on {where}"


@dataclass(frozen=True)
class SliceChanges:
    """Changes of all samples, of every slice, and of the classes of slices.

    Slices that are `too_small` or suppressed are left out, as are classes with fewer than
    `min_size` samples in a slice.
    """

    whole: PartChange
    slices: tuple[PartChange, ...]
    classes: tuple[PartChange, ...]
    too_small: Mapping[str, int]
    n_suppressed: int
    min_size: int

    @property
    def verdict(self) -> str:
        """The significant changes: "By accuracy, B is better overall and worse for country=JP"."""
        n_slices = count(len(self.slices), "slice")
        with_classes = " and recalls" if self.classes else ""
        right = texts.title_inside(self.whole.change.key)
        how = f"({right}{with_classes}, the whole and {n_slices} judged together)"
        parts = []
        if self.whole.change.outcome.is_separable:
            parts.append(f"{'better' if self.whole.change.is_gain else 'worse'} overall")
        n_overall = len(parts)
        for word, found in (
            ("worse", [each for each in self._largest_parts if each.change.is_loss]),
            ("better", [each for each in self._largest_parts if each.change.is_gain]),
        ):
            names = [each.name for each in sorted(found, key=_size_of_change)]
            if names:
                parts.append(f"{word} for {listed(names, at_most=MOST_NAMED)}")
        if not parts:
            return f"No slice changes significantly {how}."
        unchanged = "; no slice changes significantly" if len(parts) == n_overall else ""
        return f"By {right}, B is {' and '.join(parts)}{unchanged} {how}."

    @property
    def _largest_parts(self) -> list[PartChange]:
        """Slices, and classes of slices whose accuracy does not change in the same direction."""
        known = {
            (each.slice, each.change.is_gain)
            for each in self.slices
            if each.change.outcome.is_separable
        }
        return [
            *self.slices,
            *(each for each in self.classes if (each.slice, each.change.is_gain) not in known),
        ]


def _size_of_change(part: PartChange) -> float:
    return -abs(part.change.difference.value or 0.0)


def part_counts(
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    actual: NDArray[Any],
    n_classes: int,
    sizes: NDArray[np.int64] | None = None,
) -> tuple[PartCounts, tuple[PartCounts, ...]]:
    """Count n samples by which run is correct: all of them, and those of each class.

    All arrays have shape (n,); `actual` are codes of `n_classes` classes. With `sizes`, each place
    stands for that many samples.
    """
    outcomes = actual.astype(np.int64) * 4 + 2 * first + second
    counts = np.bincount(outcomes, sizes, minlength=4 * n_classes).astype(np.int64)
    counts = counts.reshape(n_classes, 4)
    all_classes, *each = (
        PartCounts(both_right=right, only_first=first_alone, only_second=alone, total=total)
        for (_, alone, first_alone, right), total in (
            (line, sum(line)) for line in [np.einsum("ko->o", counts).tolist(), *counts.tolist()]
        )
    )
    return all_classes, tuple(each)


LABEL_AXIS = 1
"""Axis of sets (n, q) along which the label changes."""


def part_counts_of_sets(
    actual: NDArray[np.bool_], first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> tuple[PartCounts, tuple[PartCounts, ...]]:
    """Count label sets (n, q): those predicted exactly, and by label the samples that have it."""
    exact = [(sets == actual).all(axis=LABEL_AXIS) for sets in (first, second)]
    whole = _counts_of(np.ones(len(actual), np.bool_), *exact)
    by_label = (
        _counts_of(actual[:, code], first[:, code], second[:, code])
        for code in range(actual.shape[LABEL_AXIS])
    )
    return whole, tuple(by_label)


def _counts_of(
    members: NDArray[np.bool_], first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> PartCounts:
    return PartCounts(
        both_right=int(np.count_nonzero(members & first & second)),
        only_first=int(np.count_nonzero(members & first & ~second)),
        only_second=int(np.count_nonzero(members & ~first & second)),
        total=int(np.count_nonzero(members)),
    )


def compare_parts(
    whole: PartCounts,
    slices: Mapping[str, PartCounts],
    classes: Mapping[tuple[str, str], PartCounts],
    *,
    too_small: Mapping[str, int],
    n_suppressed: int,
    min_size: int,
    confidence: float = 0.95,
    key: str = "overall_accuracy",
) -> SliceChanges:
    """Judge the whole, all slices and `classes`, by slice and label, together.

    `key` is the metric that counts correct samples. All parts have at least one sample.
    """
    parts = [(None, None, whole), *((text, None, each) for text, each in slices.items())]
    of_classes = [(text, label, each) for (text, label), each in classes.items()]
    share = 0.5 if of_classes else 1.0
    changes = _changes(parts, key, confidence, share)
    return SliceChanges(
        changes[0],
        changes[1:],
        _changes(of_classes, "recall", confidence, share) if of_classes else (),
        too_small,
        n_suppressed,
        min_size,
    )


def _changes(
    parts: Sequence[tuple[str | None, str | None, PartCounts]],
    key: str,
    confidence: float,
    share: float,
) -> tuple[PartChange, ...]:
    rates = PairedRates(
        *(
            np.array([getattr(counts, name) for *_, counts in parts], np.int64)
            for name in ("only_first", "only_second", "total")
        )
    )
    found = recall_changes(rates, confidence=confidence, share=share)
    changes = []
    for at, (text, label, counts) in enumerate(parts):
        first, second, difference = (
            MetricValue(hits / counts.total)
            for hits in (
                counts.both_right + counts.only_first,
                counts.both_right + counts.only_second,
                counts.only_second - counts.only_first,
            )
        )
        change = judged_change(key, label, (first, second), difference, found, at=at)
        changes.append(PartChange(text, label, counts, change))
    return tuple(changes)
