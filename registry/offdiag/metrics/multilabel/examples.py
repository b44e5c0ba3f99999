"""Example-based averages: how well the predicted set of each sample matches its true set.

Godbole and Sarawagi (2004); the forms are equations (1)-(6) of Krstinic et al. (2020), which
leave open what happens when a set is empty. Here two empty sets agree perfectly and score 1,
and a set that is empty while the other is not scores 0. scikit-learn offers two other
readings, which are published under their own names: `zero_division=0` gives a correct "none
of them" no credit (`_zd0`), `zero_division=1` rewards silence with precision 1 (`_zd1`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.sets import LABEL_AXIS, SetPatterns, set_sizes
from offdiag.metrics.spec import (
    EFFECTIVE_SIZE,
    KRSTINIC,
    NO_INTERVAL,
    WILSON,
    Direction,
    MetricSpec,
    Scope,
)

Sizes = NDArray[np.int64]
MEASURES = ("jaccard", "precision", "recall", "f1")
"""Order of the cells in `ExampleSums.overlap`."""
RULES = ("", "_zd0", "_zd1")
"""Key suffixes that say how an empty set scores."""


@dataclass(frozen=True, eq=False)
class ExampleSums:
    """Sums over n samples of q labels from which every example-based average follows.

    `overlap` holds, for each of `MEASURES`, the sum over the samples whose denominator is not
    zero. `n_without_denominator` counts the others for each measure; `both_empty` those among
    them for which both sets are empty.
    """

    n_samples: int
    n_labels: int
    n_equal: int
    n_wrong_labels: int
    both_empty: int
    n_without_denominator: tuple[int, ...]
    overlap: ExactSums

    def __add__(self, other: ExampleSums) -> ExampleSums:
        missing = zip(self.n_without_denominator, other.n_without_denominator, strict=True)
        return ExampleSums(
            n_samples=self.n_samples + other.n_samples,
            n_labels=self.n_labels,
            n_equal=self.n_equal + other.n_equal,
            n_wrong_labels=self.n_wrong_labels + other.n_wrong_labels,
            both_empty=self.both_empty + other.both_empty,
            n_without_denominator=tuple(first + second for first, second in missing),
            overlap=self.overlap + other.overlap,
        )


def sum_over_examples(patterns: SetPatterns) -> ExampleSums:
    """Sum the overlap of the two sets over all samples."""
    overlap = Overlap.of(patterns.actual, patterns.predicted)
    n_wrong, is_empty = overlap.n_wrong, overlap.n_actual + overlap.n_predicted == 0
    fractions = [overlap.fraction(measure) for measure in MEASURES]
    return ExampleSums(
        n_samples=patterns.n_samples,
        n_labels=patterns.n_labels,
        n_equal=int(patterns.count[n_wrong == 0].sum()),
        n_wrong_labels=int((n_wrong * patterns.count).sum()),
        both_empty=int(patterns.count[is_empty].sum()),
        n_without_denominator=tuple(
            int(patterns.count[below == 0].sum()) for _, below in fractions
        ),
        overlap=ExactSums.collect(
            cell=np.repeat(np.arange(len(MEASURES)), len(n_wrong)),
            denominator=np.concatenate([np.maximum(below, 1) for _, below in fractions]),
            numerator=np.concatenate([above * patterns.count for above, _ in fractions]),
        ),
    )


@dataclass(frozen=True, eq=False)
class Overlap:
    """Sizes of true and predicted sets and of their intersection, of shapes that broadcast."""

    common: Sizes
    n_actual: Sizes
    n_predicted: Sizes
    n_labels: int

    @classmethod
    def of(cls, actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Overlap:
        """The overlap of sets with the labels along the last axis."""
        n_labels = int(actual.shape[LABEL_AXIS])
        return cls(
            set_sizes(actual & predicted), set_sizes(actual), set_sizes(predicted), n_labels
        )

    @property
    def n_wrong(self) -> Sizes:
        """Labels that are in one of the two sets only."""
        return self.n_actual + self.n_predicted - 2 * self.common

    def fraction(self, measure: str) -> tuple[Sizes, Sizes]:
        """Numerator and denominator of one of `MEASURES`."""
        both = self.n_actual + self.n_predicted
        match measure:
            case "jaccard":
                return self.common, both - self.common
            case "precision":
                return self.common, self.n_predicted
            case "recall":
                return self.common, self.n_actual
        return 2 * self.common, both

    def values(self, key: str) -> NDArray[np.float64]:
        """The contribution of samples with these sets to an average over samples."""
        if key == "subset_accuracy":
            return np.asarray(self.n_wrong == 0, np.float64)
        if key == "hamming_loss":
            return np.asarray(self.n_wrong / self.n_labels)
        measure, _, rule = key.removeprefix("example_").partition("_")
        above, below = self.fraction(measure)
        empty = {"": self.n_wrong == 0, "zd0": np.False_, "zd1": np.True_}[rule]
        return np.where(below > 0, above / np.maximum(below, 1), np.asarray(empty, np.float64))


def example_metrics(sums: ExampleSums) -> Mapping[str, MetricValue]:
    """`subset_accuracy`, `hamming_loss` and the example-based averages, each rounded once.

    Undefined only without samples.
    """
    values = {
        "subset_accuracy": _mean(Fraction(sums.n_equal), sums.n_samples),
        "hamming_loss": _mean(Fraction(sums.n_wrong_labels, sums.n_labels), sums.n_samples),
    }
    for cell, measure in enumerate(MEASURES):
        total, missing = sums.overlap.total(cell), sums.n_without_denominator[cell]
        values[f"example_{measure}"] = _mean(total + sums.both_empty, sums.n_samples)
        values[f"example_{measure}_zd0"] = _mean(total, sums.n_samples)
        values[f"example_{measure}_zd1"] = _mean(total + missing, sums.n_samples)
    return values


def label_numbers(sums: ExampleSums, n_true_labels: int) -> Mapping[str, MetricValue]:
    """`label_cardinality` and `label_density`. Undefined only without samples."""
    return {
        "label_cardinality": _mean(Fraction(n_true_labels), sums.n_samples),
        "label_density": _mean(Fraction(n_true_labels, sums.n_labels), sums.n_samples),
    }


def _mean(total: Fraction, n_samples: int) -> MetricValue:
    if n_samples == 0:
        return MetricValue(None, Reason.NO_SAMPLES.value)
    return MetricValue(float(total / n_samples))


# Y is the true and Z the predicted set of a sample, q the number of labels, n that of samples.
NO_SAMPLES = {Reason.NO_SAMPLES: "there are no examples"}
OF_SETS = partial(MetricSpec, scope=Scope.MULTILABEL, undefined_when=NO_SAMPLES)
_TSOUMAKAS = (
    "Tsoumakas and Katakis 2007, International Journal of Data Warehousing and Mining 3(3), 1-13"
)
_GODBOLE = "Godbole and Sarawagi 2004, Discriminative methods for multi-labeled classification"


@dataclass(frozen=True)
class _Measure:
    """One way to compare the true set of a sample with the predicted one."""

    key: str
    title: str
    of_case: str
    denominator: str
    equation: int


_MEASURES = (
    _Measure("jaccard", "Jaccard index", "|Y and Z| / |Y or Z|", "both sets are empty", 1),
    _Measure("precision", "precision", "|Y and Z| / |Z|", "the predicted set is empty", 2),
    _Measure("recall", "recall", "|Y and Z| / |Y|", "the true set is empty", 3),
    _Measure("f1", "F1", "2 |Y and Z| / (|Y| + |Z|)", "both sets are empty", 4),
)


def _of_samples(measure: _Measure) -> Iterator[MetricSpec]:
    """The mean over samples under each of the three rules for empty sets."""
    readings: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
        (
            "",
            "",
            "Two empty sets agree and score 1. If only one of them is empty, the score is 0.",
            {},
        ),
        (
            "_zd0",
            " (empty sets as 0)",
            f"An example counts as 0 if {measure.denominator}, even if that is correct.",
            {"scikit-learn": f"{measure.key}_score(average='samples', zero_division=0)"},
        ),
        (
            "_zd1",
            " (empty sets as 1)",
            f"An example counts as 1 if {measure.denominator}, even if that is wrong.",
            {"scikit-learn": f"{measure.key}_score(average='samples', zero_division=1)"},
        ),
    )
    for suffix, rule, notes, other_names in readings:
        yield OF_SETS(
            key=f"example_{measure.key}{suffix}",
            interval=EFFECTIVE_SIZE,
            title=f"Samples-average {measure.title}{rule}",
            formula=f"mean over examples of {measure.of_case}",
            source=f"{_GODBOLE}; {KRSTINIC}, eq. {measure.equation}",
            ignores=("which labels are confused",),
            other_names=other_names,
            notes=notes,
        )


SPECS: tuple[MetricSpec, ...] = (
    OF_SETS(
        key="subset_accuracy",
        interval=WILSON,
        title="Subset accuracy",
        formula="share of examples with Y = Z",
        source=f"{KRSTINIC}, eq. 6",
        ignores=("how wrong a wrong set is",),
        other_names={
            "scikit-learn": "accuracy_score",
            "torchmetrics": "multilabel_exact_match (its multilabel_accuracy averages labels)",
        },
        notes="Exact match: a single wrong label makes an example wrong, so it falls quickly as q "
        "grows.",
    ),
    OF_SETS(
        key="hamming_loss",
        interval=EFFECTIVE_SIZE,
        title="Hamming loss",
        formula="mean over examples of |Y xor Z| / q",
        direction=Direction.LOWER,
        source=f"{KRSTINIC}, eq. 5",
        ignores=("whether a label is missing or predicted wrongly",),
        other_names={"scikit-learn": "hamming_loss"},
        notes="With few labels per example, even a model that never predicts any label looks "
        "good.",
    ),
    *(spec for measure in _MEASURES for spec in _of_samples(measure)),
    OF_SETS(
        key="label_cardinality",
        interval=NO_INTERVAL,
        title="Label cardinality",
        formula="mean over examples of |Y|",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{_TSOUMAKAS}, section 4",
        ignores=("all predictions",),
        notes="The mean number of labels of an example. It describes the data, whatever the "
        "model.",
    ),
    OF_SETS(
        key="label_density",
        interval=NO_INTERVAL,
        title="Label density",
        formula="mean over examples of |Y| / q",
        direction=Direction.NEITHER,
        source=f"{_TSOUMAKAS}, section 4",
        ignores=("all predictions",),
        notes="The Hamming loss of a model that never predicts any label.",
    ),
)
