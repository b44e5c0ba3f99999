"""What advice depends on: the errors that matter, the data, and what is known of its use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.labels import LabelSet
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE


class Goal(StrEnum):
    """Which errors, or which use of the scores, matter."""

    MISSES = "misses"
    """Cases of a class that are not found."""
    FALSE_ALARMS = "false_alarms"
    """Answers that name a class wrongly."""
    BOTH = "both"
    RANKING = "ranking"
    """The samples are sorted by score; the threshold is chosen later."""
    PROBABILITIES = "probabilities"
    """The scores are used as probabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The data a classifier was tried on, and what it is for.

    `cases` are the numbers of samples of each class, in label order. `about` is the class whose
    errors matter, None if all matter alike. `balance_known` says that the classes are as
    frequent in use as they are in this data.
    """

    goal: Goal
    labels: LabelSet
    cases: tuple[int, ...]
    about: str | None
    balance_known: bool
    has_scores: bool

    @property
    def present(self) -> dict[str, int]:
        """The classes that have cases, with their numbers."""
        counted = zip(self.labels.names, self.cases, strict=True)
        return {name: count for name, count in counted if count}

    @property
    def watched(self) -> str:
        """The class in question, or else the one with the fewest cases: it fails unseen."""
        return self.about or min(self.present, key=self.present.__getitem__)

    @property
    def majority(self) -> str:
        """The class with the most cases."""
        return max(self.present, key=self.present.__getitem__)

    @property
    def majority_share(self) -> float:
        """Share of the largest class: the accuracy of always naming it."""
        return max(self.cases) / sum(self.cases)

    @property
    def is_imbalanced(self) -> bool:
        """Whether the smallest class has at most half the samples of the largest."""
        return 2 * min(self.present.values()) <= max(self.present.values())

    @property
    def has_few_samples(self) -> bool:
        """Whether the watched class is too small for a reliable interval."""
        return self.cases[self.labels.index[self.watched]] < RELIABLE_CLASS_SIZE
