"""Fairness of a run between the groups of a slice column, by the usual names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.metrics.groups.fairness import LEFT_OUT, Criterion
from offdiag.records.base import RequestBody, ResponseBody, Value
from offdiag.reports import texts

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.metrics.groups.fairness import ClassFairness
    from offdiag.services.groups.fairness import RunFairness


class FairnessQuery(RequestBody):
    """Which groups are compared."""

    by: str = Field(description="A slice column.", examples=["sex"], max_length=1_000)
    class_label: str | None = Field(
        default=None, description="Only this class; by default the positive one of two, else all."
    )


class CriterionValues(ResponseBody):
    """How far the groups are apart by one criterion."""

    criterion: Criterion
    difference: Value = Field(description="Highest rate of a group minus the lowest; 0 is equal.")
    ratio: Value = Field(description="Lowest rate divided by the highest; 1 is equal.")


class FairnessOfClass(ResponseBody):
    """One class against the rest."""

    class_label: str
    criteria: list[CriterionValues]
    rates: dict[str, dict[str, Value]] = Field(
        description="By metric key and group: `predicted_rate`, `recall`, `fpr`, `precision`."
    )
    conflict: str | None = Field(
        description="Which criteria exclude each other on these examples; null where none need."
    )


class Fairness(ResponseBody):
    """All criteria between the groups of a slice column that are large enough."""

    run: str
    by: str
    groups: dict[str, int] = Field(description="Labelled examples of each group compared.")
    classes: list[FairnessOfClass]
    too_small: dict[str, int] = Field(
        description="Groups with fewer than `min_size` labelled examples, which are left out."
    )
    min_size: int
    n_suppressed: int = Field(
        description="Groups that are named to nobody, as they are too small or would give others "
        "away."
    )
    suppressed_below: int
    leaves_out: str = Field(description="What these criteria do not see.")

    def left_out(self) -> list[str]:
        """Which groups are not compared, in sentences."""
        few = ", ".join(f"{name} ({n})" for name, n in self.too_small.items())
        notes = [f"Fewer than {self.min_size} labelled examples: {few}."] if few else []
        if self.n_suppressed:
            groups = texts.count(self.n_suppressed, "group")
            notes.append(f"Suppressed below {self.suppressed_below}: {groups}.")
        return notes


def fairness_document(found: RunFairness) -> Fairness:
    """What was found."""
    groups = found.groups
    return Fairness.made_of(
        groups,
        run=groups.run.id,
        by=groups.column,
        groups={name: each.total for name, each in groups.groups.items()},
        classes=[
            _of_class(label, each, list(groups.groups)) for label, each in found.by_class.items()
        ],
        leaves_out=LEFT_OUT,
    )


def _of_class(label: str, found: ClassFairness, names: list[str]) -> FairnessOfClass:
    return FairnessOfClass.made_of(
        found,
        class_label=label,
        criteria=found.disparities,
        rates={key: dict(zip(names, values, strict=True)) for key, values in found.rates.items()},
    )


FAIRNESS_COLUMNS = (
    *("class", "criterion", "difference", "difference_ci_low", "difference_ci_high"),
    *("ratio", "ratio_ci_low", "ratio_ci_high", "reason"),
)


def fairness_rows(found: Fairness) -> Iterator[tuple[Cell, ...]]:
    """One line for each class and criterion, in the order of `FAIRNESS_COLUMNS`."""
    for each in found.classes:
        for line in each.criteria:
            difference, ratio = line.difference, line.ratio
            yield (
                *(each.class_label, line.criterion.value),
                *(difference.value, difference.ci_low, difference.ci_high),
                *(ratio.value, ratio.ci_low, ratio.ci_high),
                difference.reason or ratio.reason,
            )
