"""Averages over labels of the two-by-two tables: micro, macro and weighted.

Equations (7)-(10) of Krstinic et al. (2020). `micro_x` pools the tables of all labels;
`macro_x` is the mean over all q labels, with undefined label values counting as 0;
`macro_x_defined` the mean over the labels where x is defined; `weighted_x` weights labels by
their support, with undefined values counting as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.examples import NO_SAMPLES, OF_SETS
from offdiag.metrics.multilabel.tally import LabelCounts
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.per_class.one_vs_rest import OneVsRest
from offdiag.metrics.quantity import Quantity, as_float, defined, quotient
from offdiag.metrics.spec import EFFECTIVE_SIZE, KRSTINIC, MetricSpec

Floats = NDArray[np.float64]
AVERAGED = ("precision", "recall", "f1", "jaccard")
MACRO = "macro_"
"""Prefix of the keys of averages that give rare labels as much weight as frequent ones."""


LAST_LABEL_AXIS = -1
"""Axis along which the label changes in the tables of one or of many evaluations."""


def label_averages(counts: LabelCounts) -> Mapping[str, MetricValue]:
    """All averages of `AVERAGED` by key."""
    averages = averages_over_labels(counts.one_vs_rest(), counts.pooled())
    if counts.n_samples == 0:
        return {key: MetricValue(None, Reason.NO_SAMPLES.value) for key in averages}
    return {key: average.at() for key, average in averages.items()}


def averages_over_labels(labels: OneVsRest, pooled: OneVsRest) -> dict[str, Quantity]:
    """The averages of non-empty tables, quantities of shape (...).

    `labels` has cells of shape (..., q), `pooled` those of all labels added up, (...).
    """
    averages = {}
    for key in AVERAGED:
        values = PER_CLASS[key].compute(labels)
        averages[f"micro_{key}"] = PER_CLASS[key].compute(pooled)
        averages[f"macro_{key}"] = defined(values.or_zero().mean(axis=LAST_LABEL_AXIS))
        n_defined = np.count_nonzero(values.is_defined, axis=LAST_LABEL_AXIS)
        total = values.or_zero().sum(axis=LAST_LABEL_AXIS)
        averages[f"macro_{key}_defined"] = quotient(
            total, np.asarray(n_defined), Reason.CLASS_VALUE_UNDEFINED
        )
        averages[f"weighted_{key}"] = _weighted(values, as_float(labels.positives))
    return averages


def averages_of_hits(
    right: Floats, actual: Floats, predicted: Floats, n_samples: float
) -> dict[str, Quantity]:
    """The averages from the samples that have each label in both sets and in either, (..., q)."""
    labels = OneVsRest(
        tp=right,
        fn=actual - right,
        fp=predicted - right,
        tn=n_samples - actual - predicted + right,
    )
    tp, fn, fp, tn = (
        cell.sum(axis=LAST_LABEL_AXIS) for cell in (labels.tp, labels.fn, labels.fp, labels.tn)
    )
    return averages_over_labels(labels, OneVsRest(tp, fn, fp, tn))


def _weighted(values: Quantity, support: NDArray[np.float64]) -> Quantity:
    weighted_sum = (support * values.or_zero()).sum(axis=LAST_LABEL_AXIS)
    total = support.sum(axis=LAST_LABEL_AXIS)
    return quotient(weighted_sum, np.asarray(total), Reason.NO_ACTUAL_POSITIVES)


_Average: TypeAlias = tuple[str, str, str, Mapping[Reason, str], Mapping[str, str], str]
"""Key, kind, formula, when it is undefined, other names, notes."""

_OF_SMALL_LABELS = f"{EFFECTIVE_SIZE} No ends if a label has fewer than 5 examples."
_OF_RARE_LABELS = (
    f"{EFFECTIVE_SIZE} No ends if labels with fewer than 5 examples have more than a tenth of the "
    "weight."
)
_NOTHING_TRUE = {Reason.NO_ACTUAL_POSITIVES: "no example has a true label"}

_NOTHING_PREDICTED = {Reason.NO_PREDICTED_POSITIVES: "no label is ever predicted"}

_NOTHING_AT_ALL = {Reason.CLASS_ABSENT: "no label is ever true or predicted"}


@dataclass(frozen=True)
class _Measure:
    """One way to compare the truth about a label with its predictions."""

    key: str
    title: str
    of_label: str
    undefined: Mapping[Reason, str]


_MEASURES = (
    _Measure("jaccard", "Jaccard index", "TP / (TP + FN + FP)", _NOTHING_AT_ALL),
    _Measure("precision", "precision", "TP / (TP + FP)", _NOTHING_PREDICTED),
    _Measure("recall", "recall", "TP / (TP + FN)", _NOTHING_TRUE),
    _Measure("f1", "F1", "2 TP / (2 TP + FN + FP)", _NOTHING_AT_ALL),
)


def _of_labels(measure: _Measure) -> Iterator[MetricSpec]:
    """The averages over labels."""
    library = f"{measure.key}_score"
    averages: tuple[_Average, ...] = (
        (
            f"micro_{measure.key}",
            "Micro",
            f"{measure.of_label} with the counts summed over labels",
            measure.undefined,
            {"scikit-learn": f"{library}(average='micro')"},
            "Labels with many examples dominate.",
        ),
        (
            f"macro_{measure.key}",
            "Macro",
            f"mean over all q labels of {measure.of_label}",
            {},
            {"scikit-learn": f"{library}(average='macro', zero_division=0)"},
            "Every label counts the same; an undefined value of a label counts as 0.",
        ),
        (
            f"macro_{measure.key}_defined",
            "Macro",
            f"mean of {measure.of_label} over the labels where it is defined",
            {Reason.CLASS_VALUE_UNDEFINED: "it is undefined for every label"},
            {"scikit-learn": f"{library}(average='macro', zero_division=nan)"},
            "The labels left out may be the ones on which the model fails.",
        ),
        (
            f"weighted_{measure.key}",
            "Weighted",
            f"sum over labels of support times {measure.of_label}, over the total support",
            _NOTHING_TRUE,
            {"scikit-learn": f"{library}(average='weighted', zero_division=0)"},
            "An undefined value of a label counts as 0.",
        ),
    )
    for key, average, formula, undefined, other_names, notes in averages:
        defined = " (defined classes only)" if key.endswith("_defined") else ""
        yield OF_SETS(
            key=key,
            interval=_interval(key),
            title=f"{average} {measure.title}{defined}",
            formula=formula,
            source=f"{KRSTINIC}, eqs. 7-10",
            undefined_when={**NO_SAMPLES, **undefined},
            other_names=other_names,
            notes=notes,
        )


def _interval(key: str) -> str:
    if key.startswith(MACRO):
        return _OF_SMALL_LABELS
    return _OF_RARE_LABELS if depends_on_rare_labels(key) else EFFECTIVE_SIZE


def depends_on_rare_labels(key: str) -> bool:
    """Whether a weighted average adds up per-label values; recall adds up hits, for which the
    label does not matter.
    """
    return key.startswith("weighted_") and key != "weighted_recall"


SPECS: tuple[MetricSpec, ...] = (*(spec for measure in _MEASURES for spec in _of_labels(measure)),)
