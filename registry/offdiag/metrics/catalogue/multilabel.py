"""What the keys of a multi-label evaluation mean.

Y is the true and Z the predicted set of a case, q the number of labels, n that of cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from offdiag.domain.values import Reason
from offdiag.metrics.catalogue import per_label
from offdiag.metrics.spec import Direction, MetricSpec, Scope

_NO_CASES = {Reason.NO_CASES: "there are no cases"}
_KRSTINIC = (
    "Krstinic, Braovic, Seric and Bozic-Stulic 2020, Multi-label classifier performance "
    "evaluation with confusion matrix, CS & IT 10(8)"
)
_GODBOLE = "Godbole and Sarawagi 2004, Discriminative methods for multi-labeled classification"
_TSOUMAKAS = (
    "Tsoumakas, Katakis and Vlahavas 2010, Mining multi-label data, in: Data Mining and "
    "Knowledge Discovery Handbook"
)


@dataclass(frozen=True)
class _Measure:
    """One way to compare what is true with what was predicted, for a case and for a label."""

    key: str
    title: str
    of_case: str
    denominator: str
    of_label: str
    equation: int
    undefined: Mapping[Reason, str]


_Average: TypeAlias = tuple[str, str, str, Mapping[Reason, str], Mapping[str, str], str]
"""Key, kind, formula, when it is undefined, other names, notes."""
_NOTHING_TRUE = {Reason.NO_ACTUAL_POSITIVES: "no case has a true label"}
_NOTHING_PREDICTED = {Reason.NO_PREDICTED_POSITIVES: "nothing is ever predicted"}
_NOTHING_AT_ALL = {Reason.CLASS_ABSENT: "no label is ever true or predicted"}
_MEASURES = (
    _Measure(
        "jaccard",
        "Jaccard index",
        "|Y and Z| / |Y or Z|",
        "both sets are empty",
        "TP / (TP + FN + FP)",
        1,
        _NOTHING_AT_ALL,
    ),
    _Measure(
        "precision",
        "precision",
        "|Y and Z| / |Z|",
        "the predicted set is empty",
        "TP / (TP + FP)",
        2,
        _NOTHING_PREDICTED,
    ),
    _Measure(
        "recall",
        "recall",
        "|Y and Z| / |Y|",
        "the true set is empty",
        "TP / (TP + FN)",
        3,
        _NOTHING_TRUE,
    ),
    _Measure(
        "f1",
        "F1",
        "2 |Y and Z| / (|Y| + |Z|)",
        "both sets are empty",
        "2 TP / (2 TP + FN + FP)",
        4,
        _NOTHING_AT_ALL,
    ),
)


def _of_cases(measure: _Measure) -> Iterator[MetricSpec]:
    """The mean over cases under each of the three rules for empty sets."""
    readings: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
        (
            "",
            "",
            "Two empty sets agree and score 1; one that is empty while the other is not scores 0.",
            {},
        ),
        (
            "_zd0",
            ", empty sets as 0",
            f"A case counts 0 where {measure.denominator}, even if that is right.",
            {"scikit-learn": f"{measure.key}_score(average='samples', zero_division=0)"},
        ),
        (
            "_zd1",
            ", empty sets as 1",
            f"A case counts 1 where {measure.denominator}, even if that is wrong.",
            {"scikit-learn": f"{measure.key}_score(average='samples', zero_division=1)"},
        ),
    )
    for suffix, rule, notes, other_names in readings:
        yield MetricSpec(
            key=f"example_{measure.key}{suffix}",
            scope=Scope.MULTILABEL,
            title=f"Example-based {measure.title}{rule}",
            formula=f"mean over cases of {measure.of_case}",
            low=0,
            high=1,
            direction=Direction.HIGHER,
            source=f"{_GODBOLE}; {_KRSTINIC}, eq. {measure.equation}",
            undefined_when=_NO_CASES,
            ignores=("which labels are confused",),
            other_names=other_names,
            notes=notes,
        )


def _of_labels(measure: _Measure) -> Iterator[MetricSpec]:
    """The averages over labels."""
    library = f"{measure.key}_score"
    averages: tuple[_Average, ...] = (
        (
            f"micro_{measure.key}",
            "Micro",
            f"{measure.of_label} with the cells added up over labels",
            measure.undefined,
            {"scikit-learn": f"{library}(average='micro')"},
            "Labels with many cases dominate.",
        ),
        (
            f"macro_{measure.key}",
            "Macro",
            f"mean over all q labels of {measure.of_label}",
            {},
            {"scikit-learn": f"{library}(average='macro', zero_division=0)"},
            "Every label counts the same; an undefined label value counts as 0.",
        ),
        (
            f"macro_{measure.key}_defined",
            "Macro (defined labels)",
            f"mean of {measure.of_label} over the labels where it is defined",
            {Reason.CLASS_VALUE_UNDEFINED: "it is undefined for every label"},
            {"scikit-learn": f"{library}(average='macro', zero_division=nan)"},
            "Labels that are left out may be those that the model fails on.",
        ),
        (
            f"weighted_{measure.key}",
            "Weighted",
            f"sum over labels of support times {measure.of_label}, over the total support",
            _NOTHING_TRUE,
            {"scikit-learn": f"{library}(average='weighted', zero_division=0)"},
            "An undefined label value counts as 0.",
        ),
    )
    for key, average, formula, undefined, other_names, notes in averages:
        yield MetricSpec(
            key=key,
            scope=Scope.MULTILABEL,
            title=f"{average} {measure.title}",
            formula=formula,
            low=0,
            high=1,
            direction=Direction.HIGHER,
            source=f"{_KRSTINIC}, eqs. 7-10",
            undefined_when={**_NO_CASES, **undefined},
            other_names=other_names,
            notes=notes,
        )


SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="subset_accuracy",
        scope=Scope.MULTILABEL,
        title="Subset accuracy",
        formula="share of cases with Y = Z",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{_KRSTINIC}, eq. 6",
        undefined_when=_NO_CASES,
        ignores=("how wrong a wrong set is",),
        other_names={
            "scikit-learn": "accuracy_score",
            "torchmetrics": "multilabel_exact_match (its multilabel_accuracy averages labels)",
        },
        notes="Exact match. It falls quickly as q grows, because one wrong label spoils a case.",
    ),
    MetricSpec(
        key="hamming_loss",
        scope=Scope.MULTILABEL,
        title="Hamming loss",
        formula="mean over cases of |Y xor Z| / q",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=f"{_KRSTINIC}, eq. 5",
        undefined_when=_NO_CASES,
        ignores=("whether a label was missed or spurious",),
        other_names={"scikit-learn": "hamming_loss"},
        notes="With few labels per case a model that never predicts anything already looks good.",
    ),
    *(spec for measure in _MEASURES for spec in _of_cases(measure)),
    *(spec for measure in _MEASURES for spec in _of_labels(measure)),
    MetricSpec(
        key="coverage_error",
        scope=Scope.MULTILABEL,
        title="Coverage error",
        formula="mean over cases of the number of labels scored at least as high as the lowest "
        "scored label of Y",
        low=0,
        high=math.inf,
        direction=Direction.LOWER,
        source=_TSOUMAKAS,
        undefined_when=_NO_CASES,
        ignores=("everything about scores but their order",),
        other_names={
            "scikit-learn": "coverage_error",
            "torchmetrics": "multilabel_coverage_error",
        },
        notes="At best the mean size of Y, at worst q. A case without true labels counts 0.",
    ),
    MetricSpec(
        key="label_ranking_loss",
        scope=Scope.MULTILABEL,
        title="Label ranking loss",
        formula="mean over cases of the share of (true, other) label pairs where the true one is "
        "not scored higher",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=_TSOUMAKAS,
        undefined_when=_NO_CASES,
        ignores=("everything about scores but their order",),
        other_names={
            "scikit-learn": "label_ranking_loss",
            "torchmetrics": "multilabel_ranking_loss",
        },
        notes="Ties count as wrong. A case where no label, or every label, is true counts 0.",
    ),
    MetricSpec(
        key="label_ranking_average_precision",
        scope=Scope.MULTILABEL,
        title="Label ranking average precision",
        formula="mean over cases and true labels of the share of true labels among those scored "
        "at least as high",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=_TSOUMAKAS,
        undefined_when=_NO_CASES,
        ignores=("everything about scores but their order",),
        other_names={
            "scikit-learn": "label_ranking_average_precision_score",
            "torchmetrics": "multilabel_ranking_average_precision",
        },
        notes="A case where no label, or every label, is true counts 1.",
    ),
    *per_label.SPECS,
)
