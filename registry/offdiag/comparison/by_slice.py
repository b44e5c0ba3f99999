"""Two runs on all samples and on each slice of them, judged together.

The share of right predictions is compared: McNemar's mid-p for each part (Fagerland, Lydersen and
Laake 2013), Holm's adjustment over all slices of all columns and the whole, which is their parent,
and Tango's score interval. Between equally good runs, any part is called different in at most 5 %
of comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.differences import MetricDifference, judged
from offdiag.domain.values import MetricValue
from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.joint import PairedRates
from offdiag.reports.texts import listed

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class PartCounts:
    """Samples of a part of the data by which of the two runs is right."""

    both_right: int
    only_first: int
    only_second: int
    total: int


@dataclass(frozen=True, slots=True)
class PartChange:
    """Accuracy of both runs on a part; `slice` is None for all samples.

    `p_adjusted` of `change` is Holm's over all parts, and its simultaneous interval agrees with
    that.
    """

    slice: str | None
    counts: PartCounts
    change: MetricDifference


@dataclass(frozen=True)
class SliceChanges:
    """All samples and every slice; `too_small` and `suppressed` slices are not among them."""

    whole: PartChange
    slices: tuple[PartChange, ...]
    too_small: Mapping[str, int]
    suppressed: tuple[str, ...]
    min_size: int

    @property
    def verdict(self) -> str:
        """What is significant: "B is better overall and worse for country=JP"."""
        n_judged = len(self.slices)
        how = f"(accuracy, the whole and {n_judged} slices judged together)"
        whole = self.whole
        overall = "B is neither better nor worse overall"
        if whole.change.outcome.is_separable:
            overall = f"B is {'better' if whole.change.is_gain else 'worse'} overall"
        parts = []
        for word, found in (
            ("worse", [each for each in self.slices if each.change.is_loss]),
            ("better", [each for each in self.slices if each.change.is_gain]),
        ):
            names = [str(each.slice) for each in sorted(found, key=_size_of_change)]
            if names:
                parts.append(f"{word} for {listed(names, at_most=MOST_NAMED)}")
        if not parts:
            return f"{overall}; no slice changes significantly {how}."
        return f"{overall} and {' and '.join(parts)} {how}."


def _size_of_change(part: PartChange) -> float:
    return -abs(part.change.difference.value or 0.0)


def part_counts(
    first: NDArray[np.bool_], second: NDArray[np.bool_], members: NDArray[np.bool_]
) -> PartCounts:
    """Count the samples that `members` marks by which run is right; all arrays of shape (n,)."""
    one, two = first[members], second[members]
    return PartCounts(
        both_right=int(np.count_nonzero(one & two)),
        only_first=int(np.count_nonzero(one & ~two)),
        only_second=int(np.count_nonzero(~one & two)),
        total=len(one),
    )


def compare_parts(
    whole: PartCounts,
    slices: Mapping[str, PartCounts],
    *,
    too_small: Mapping[str, int],
    suppressed: Sequence[str],
    min_size: int,
    confidence: float = 0.95,
) -> SliceChanges:
    """Judge the whole and all slices, which have at least one sample each, together."""
    parts = [(None, whole), *slices.items()]
    rates = PairedRates(
        *(
            np.array([getattr(counts, name) for _, counts in parts], np.int64)
            for name in ("only_first", "only_second", "total")
        )
    )
    found = recall_changes(rates, confidence=confidence)
    changes = []
    for at, (text, counts) in enumerate(parts):
        first, second, difference = (
            MetricValue(hits / counts.total)
            for hits in (
                counts.both_right + counts.only_first,
                counts.both_right + counts.only_second,
                counts.only_second - counts.only_first,
            )
        )
        change = judged(
            "overall_accuracy",
            None,
            first,
            second,
            found.alone.at(at).around(difference),
            simultaneous=found.together.at(at),
            is_changed=bool(found.is_changed[at]),
            p=float(found.p[at]),
            p_adjusted=float(found.p_adjusted[at]),
        )
        changes.append(PartChange(text, counts, change))
    return SliceChanges(changes[0], tuple(changes[1:]), too_small, tuple(suppressed), min_size)
