"""What advice depends on: the errors that matter, the data, and what is known of their use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.labels import LabelSet, require_known
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE


class Goal(StrEnum):
    """Which errors, or which use of the scores, matter."""

    MISSES = "misses"
    """Samples of a class that are not detected."""
    FALSE_ALARMS = "false_alarms"
    """Predictions of a class that are wrong."""
    BOTH = "both"
    RANKING = "ranking"
    """The samples are sorted by score; the threshold is chosen later."""
    PROBABILITIES = "probabilities"
    """The scores are used as probabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The data on which a classifier was evaluated, and what it is used for.

    `cases` has the number of samples of each class, in label order. `about` is the class whose
    errors matter, None if all matter equally. `balance_known` says that the classes are as
    frequent in production as in this data.
    """

    goal: Goal
    labels: LabelSet
    cases: tuple[int, ...]
    about: str | None
    balance_known: bool
    has_scores: bool

    @property
    def present(self) -> dict[str, int]:
        """The classes that have samples, with their numbers."""
        counted = zip(self.labels.names, self.cases, strict=True)
        return {name: count for name, count in counted if count}

    @property
    def watched(self) -> str:
        """The class in question, or else the smallest one, whose errors are easily overlooked."""
        return self.about or min(self.present, key=self.present.__getitem__)

    @property
    def majority(self) -> str:
        """The class with the most samples."""
        return max(self.present, key=self.present.__getitem__)

    @property
    def majority_share(self) -> float:
        """Share of the largest class: the accuracy of always predicting it."""
        return max(self.cases) / sum(self.cases)

    @property
    def is_imbalanced(self) -> bool:
        """Whether the smallest class has at most half the samples of the largest."""
        return 2 * min(self.present.values()) <= max(self.present.values())

    @property
    def has_few_samples(self) -> bool:
        """Whether the watched class is too small for a reliable interval."""
        return self.cases[self.labels.index[self.watched]] < RELIABLE_CLASS_SIZE


def situation_of(
    matrix: ConfusionMatrix,
    *,
    goal: str,
    about: object,
    balance_known: bool,
    has_scores: bool,
) -> Situation:
    """The situation of the classifier behind a matrix (K, K); `about` is a class or None.

    Raises `InvalidInput` for an unknown goal or class, a class without samples, and data in
    which fewer than two classes occur.
    """
    require_known(goal, tuple(Goal), field_name="goal")
    cases = tuple(matrix.actual.tolist())
    if sum(count > 0 for count in cases) < 2:
        raise InvalidInput(
            "fewer than two classes have examples.",
            field="subject",
            hint="Such data cannot be evaluated; use examples of two or more classes.",
        )
    label = None
    if about is not None:
        code = matrix.labels.code_of(about, field_name="about")
        label = matrix.labels.names[code]
        if cases[code] == 0:
            raise InvalidInput(
                f"there are no examples of {label!r}, so nothing about it can be measured.",
                field="about",
                hint="Evaluate on examples that have it.",
            )
    return Situation(
        goal=Goal(goal),
        labels=matrix.labels,
        cases=cases,
        about=label,
        balance_known=balance_known,
        has_scores=has_scores,
    )
