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

import numpy as np

from offdiag.comparison import texts
from offdiag.comparison.churn import Churn
from offdiag.comparison.differences import MetricDifference, judged_change
from offdiag.domain.number_text import count
from offdiag.domain.sentences import listed
from offdiag.domain.values import MetricValue
from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.joint_counts import PairedRates

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class PartChange:
    """Accuracy of both runs on a part, or recall of one of its classes.

    `slice` is None for all samples, `label` for all classes. `p_adjusted` of `change` accounts
    for everything that is tested, and its simultaneous interval agrees with that.
    """

    slice: str | None
    label: str | None
    counts: Churn
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


def compare_parts(
    whole: Churn,
    slices: Mapping[str, Churn],
    classes: Mapping[tuple[str, str], Churn],
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
    parts: Sequence[tuple[str | None, str | None, Churn]],
    key: str,
    confidence: float,
    share: float,
) -> tuple[PartChange, ...]:
    rates = PairedRates(
        *(
            np.array([getattr(counts, name) for *_, counts in parts], np.int64)
            for name in ("only_a", "only_b", "total")
        )
    )
    found = recall_changes(rates, confidence=confidence, share=share)
    changes = []
    for at, (text, label, counts) in enumerate(parts):
        first, second, difference = (
            MetricValue(hits / counts.total)
            for hits in (
                counts.both_right + counts.only_a,
                counts.both_right + counts.only_b,
                counts.only_b - counts.only_a,
            )
        )
        change = judged_change(key, label, (first, second), difference, found, at=at)
        changes.append(PartChange(text, label, counts, change))
    return tuple(changes)
