"""What a run would answer under costs: the question, and what the other answers change.

Nothing here needs a database library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix


class Named(Protocol):
    """Anything with an id, such as a run."""

    @property
    def id(self) -> str: ...


SavedRun = TypeVar("SavedRun", bound=Named)
Threshold = float | Literal["cheapest"] | None


@dataclass(frozen=True, slots=True)
class DecideQuestion:
    """How somebody wants cases to be decided, in the words of `Run.decide`."""

    weights: object
    threshold: Threshold
    positive: str | None
    prevalence: object
    save_as: str | None
    author: str | None


@dataclass(frozen=True)
class Decided:
    """What a registry found out; `saved` is the id of the run that holds the answers."""

    recipe: Mapping[str, Any]
    mean_cost_before: MetricValue
    mean_cost_after: MetricValue
    difference: MetricValue
    matrix_before: ConfusionMatrix
    matrix_after: ConfusionMatrix
    recall_changes: Mapping[str, MetricValue]
    saved: str | None


@dataclass(frozen=True, eq=False)
class Decision(Generic[SavedRun]):
    """Answers decided anew from scores, beside those that were given.

    `recipe` says the rule as plain values. Costs are per case, each with its interval;
    `difference` is after minus before with the interval of the paired difference, which takes a
    threshold as fixed beforehand. `recall_changes` are by class, with paired intervals. `run`
    holds the answers if they were saved.
    """

    recipe: Mapping[str, Any]
    mean_cost_before: MetricValue
    mean_cost_after: MetricValue
    difference: MetricValue
    matrix_before: ConfusionMatrix
    matrix_after: ConfusionMatrix
    recall_changes: Mapping[str, MetricValue]
    run: SavedRun | None

    @classmethod
    def of(cls, found: Decided, run: SavedRun | None) -> Self:
        """What was found out, with the run that holds the answers."""
        return cls(
            found.recipe,
            found.mean_cost_before,
            found.mean_cost_after,
            found.difference,
            found.matrix_before,
            found.matrix_after,
            found.recall_changes,
            run,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values; the run is its id."""
        return {
            "recipe": dict(self.recipe),
            "mean_cost_before": self.mean_cost_before.to_dict(),
            "mean_cost_after": self.mean_cost_after.to_dict(),
            "difference": self.difference.to_dict(),
            "labels": list(self.matrix_before.labels.names),
            "matrix_before": self.matrix_before.counts.tolist(),
            "matrix_after": self.matrix_after.counts.tolist(),
            "recall_changes": {
                label: change.to_dict() for label, change in self.recall_changes.items()
            },
            "run": None if self.run is None else self.run.id,
        }
