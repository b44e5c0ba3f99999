"""Fairness criteria between groups of samples, from counts, by the names the literature uses.

Each criterion requires a rate of one class against the rest to be the same in all groups. The
difference is the highest rate minus the lowest, the ratio the lowest divided by the highest, as
in Fairlearn; for two groups they are the absolute values of those in AIF360.

| criterion | equal in all groups | source |
| --- | --- | --- |
| demographic parity | share predicted as the class | Dwork et al. 2012, ITCS, 214 |
| equal opportunity | recall | Hardt, Price and Srebro 2016, NeurIPS |
| equalised odds | recall and false positive rate; the worse of both counts | the same |
| predictive parity | precision | Chouldechova 2017, Big Data 5, 153 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import count, percents
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.groups.gaps import (
    largest_difference,
    proportion_values,
    smallest_ratio,
    worst_of,
)
from offdiag.metrics.intervals.proportions import WILSON, Outcomes, wilson

LEFT_OUT = (
    "These criteria compare recorded labels and predictions between groups of one column. They "
    "do not see wrong labels, differences inside a group, crosses of columns, or what an error "
    "means for a person."
)


def not_compared(
    too_small: Mapping[str, int],
    *,
    min_size: int,
    n_suppressed: int = 0,
    suppressed_below: int = 0,
    n_without_value: int | None = 0,
) -> tuple[str, ...]:
    """The labelled examples of a column that are in no compared group, as clauses.

    `too_small` has the sizes of groups below `min_size` by name; `n_suppressed` more groups are
    not even named. `n_without_value` examples have no value; None if their number is withheld.
    """
    few = ", ".join(f"{name} ({n})" for name, n in too_small.items())
    clauses = [f"fewer than {min_size} labelled examples: {few}"] if few else []
    if n_suppressed:
        clauses.append(f"suppressed below {suppressed_below}: {count(n_suppressed, 'group')}")
    if n_without_value:
        clauses.append(f"without a value: {count(n_without_value, 'labelled example')}")
    return tuple(clauses)


class Criterion(StrEnum):
    """What must be equal in all groups."""

    DEMOGRAPHIC_PARITY = "demographic_parity"
    EQUALIZED_ODDS = "equalized_odds"
    EQUAL_OPPORTUNITY = "equal_opportunity"
    PREDICTIVE_PARITY = "predictive_parity"

    @property
    def name_in_words(self) -> str:
        return _NAMES[self]

    @property
    def rates(self) -> tuple[str, ...]:
        """Keys of the rates that must be equal."""
        return _RATES[self]


_NAMES = {
    Criterion.DEMOGRAPHIC_PARITY: "Demographic parity",
    Criterion.EQUALIZED_ODDS: "Equalised odds",
    Criterion.EQUAL_OPPORTUNITY: "Equal opportunity",
    Criterion.PREDICTIVE_PARITY: "Predictive parity",
}
_RATES = {
    Criterion.DEMOGRAPHIC_PARITY: ("predicted_rate",),
    Criterion.EQUALIZED_ODDS: ("recall", "fpr"),
    Criterion.EQUAL_OPPORTUNITY: ("recall",),
    Criterion.PREDICTIVE_PARITY: ("precision",),
}
RATES = ("predicted_rate", "recall", "fpr", "precision")
"""Rates compared by the criteria, by their keys in the catalogue."""
_WITHOUT_CASES = {
    "predicted_rate": Reason.NO_SAMPLES,
    "recall": Reason.NO_ACTUAL_POSITIVES,
    "fpr": Reason.NO_ACTUAL_NEGATIVES,
    "precision": Reason.NO_PREDICTED_POSITIVES,
}


@dataclass(frozen=True)
class Disparity:
    """One criterion for one class: the largest difference and smallest ratio between groups."""

    criterion: Criterion
    difference: MetricValue
    ratio: MetricValue


@dataclass(frozen=True)
class ClassFairness:
    """One class against the rest in G groups.

    `rates` has a value for each group by the keys of `RATES`. `conflict` is a sentence if
    criteria exclude each other on these data, None if they need not.
    """

    rates: Mapping[str, tuple[MetricValue, ...]]
    disparities: tuple[Disparity, ...]
    conflict: str | None


def class_fairness(groups: Sequence[Outcomes], code: int) -> ClassFairness:
    """All criteria for the class `code` over groups without a sample in common.

    A criterion is undefined if the rate of a group is: nothing can be said about the recall of a
    group without a sample of the class. All statements of a criterion hold together at 95 %.
    """
    hits, cases = _hits_and_cases(groups, code)
    found = []
    for criterion in Criterion:
        rates = [proportion_values(hits[key], cases[key]) for key in criterion.rates]
        differences = [largest_difference(each, n_families=len(rates)) for each in rates]
        ratios = [smallest_ratio(each, n_families=len(rates)) for each in rates]
        found.append(
            Disparity(
                criterion,
                worst_of(differences, is_highest=True),
                worst_of(ratios, is_highest=False),
            )
        )
    return ClassFairness(
        {key: _values(key, hits[key], cases[key]) for key in RATES},
        tuple(found),
        _conflict(groups, code),
    )


def _hits_and_cases(
    groups: Sequence[Outcomes], code: int
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    correct, actual, predicted, total = (
        np.array(counts, dtype=np.int64)
        for counts in zip(
            *(
                (each.correct[code], each.actual[code], each.predicted[code], each.total)
                for each in groups
            ),
            strict=True,
        )
    )
    hits = {
        "predicted_rate": predicted,
        "recall": correct,
        "fpr": predicted - correct,
        "precision": correct,
    }
    cases = {
        "predicted_rate": total,
        "recall": actual,
        "fpr": total - actual,
        "precision": predicted,
    }
    return hits, cases


def _values(
    key: str, hits: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[MetricValue, ...]:
    bounds = wilson(hits, cases)
    found = []
    for group, (x, n) in enumerate(zip(hits.tolist(), cases.tolist(), strict=True)):
        low, high = bounds.at(group)
        value = MetricValue(None, _WITHOUT_CASES[key].value)
        if n:
            value = MetricValue(x / n, ci_low=low, ci_high=high, ci_method=WILSON)
        found.append(value)
    return tuple(found)


def _conflict(groups: Sequence[Outcomes], code: int) -> str | None:
    """The conflict between criteria if shares of the class certainly differ, None otherwise.

    With different shares and some error, equal precision excludes equal recall and false
    positive rates (Chouldechova 2017; Kleinberg, Mullainathan and Raghavan 2017, ITCS, 43:1),
    and a classifier with equal odds that is better than chance has no demographic parity.
    """
    n = np.array([each.total for each in groups], dtype=np.int64)
    actual = np.array([each.actual[code] for each in groups], dtype=np.int64)
    shares = proportion_values(actual, n)
    difference = largest_difference(shares)
    is_perfect = all(
        each.correct[code] == each.actual[code] == each.predicted[code] for each in groups
    )
    if not difference.ci_low or is_perfect:
        return None
    low, high = percents(float(shares.values.min()), float(shares.values.max()))
    return (
        f"The class is {low} to {high} of the groups. With such different shares and any "
        "error, predictive parity excludes equalised odds (Chouldechova 2017; Kleinberg et al. "
        "2017), and equalised odds exclude demographic parity for predictions better than chance."
    )
