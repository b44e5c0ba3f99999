"""Averages of class values; the key says how undefined classes are treated.

Libraries return five different macro F1 values for one matrix because each treats a class
without samples or predictions in its own silent way. Here every way has its own key:

* `macro_x`: classes that occur in either margin, an undefined value counts as 0;
* `macro_x_all_labels`: all declared classes, an undefined value counts as 0;
* `macro_x_defined`: only classes where x is defined;
* `macro_x_strict`: undefined as soon as x is for one declared class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.aggregates.weighted_averages import (
    OPITZ,
    ORIENTED,
    RATES,
    Formula,
    Slopes,
    strict,
    weighted_slopes,
)
from offdiag.metrics.gradients import ClassShares, Dual
from offdiag.metrics.quantity import Quantity, fraction
from offdiag.metrics.spec import (
    BOTH_ROLES_ALIKE,
    CLASS_VALUE_UNDEFINED,
    ERRING_CLASS,
    FEW_OR_ABSENT,
    MEAN_RECALL,
    NAMED_CLASS,
    NO_SAMPLES,
    OF_MATRIX,
    OF_MATRIX_LESS_BIAS,
    PATTERN_OF_ERRORS,
    ZENG,
    Symmetry,
    with_all_inversions,
)
from offdiag.metrics.tally import how_many


def macro(key: str) -> Formula:
    def over_occurring_classes(m: Classified) -> Quantity:
        return fraction(m.class_sum(key), m.tally.n_occurring_classes, m.tally.no_samples)

    return over_occurring_classes


def _macro_slopes(key: str) -> Slopes:
    return lambda s: RATES[key](s).total() / len(s.codes)


def macro_all_labels(key: str) -> Formula:
    def over_declared_classes(m: Classified) -> Quantity:
        n_classes = np.array(m.tally.n_classes, np.float64)
        return fraction(m.class_sum(key), n_classes, m.tally.no_samples)

    return over_declared_classes


def _macro_all_labels_slopes(key: str) -> Slopes:
    return lambda s: RATES[key](s).total() / s.n_classes


def macro_defined(key: str) -> Formula:
    def over_defined_classes(m: Classified) -> Quantity:
        values = m.per_class[key]
        if values.causes is None:  # It is defined for all classes.
            return m.aggregate[f"macro_{key}_all_labels"]
        return fraction(m.class_sum(key), how_many(values.is_defined), m.tally.no_samples)

    return over_defined_classes


def _macro_defined_slopes(key: str) -> Slopes:
    def mean(s: ClassShares) -> Dual:
        defined = {"recall": s.has_samples, "precision": s.is_predicted}
        n_defined = int(defined[key].sum()) if key in defined else len(s.codes)
        return RATES[key](s).total() / n_defined

    return mean


def macro_strict(key: str) -> Formula:
    def over_all_or_nothing(m: Classified) -> Quantity:
        return strict(m, key, m.aggregate[f"macro_{key}_all_labels"])

    return over_all_or_nothing


def _harmonic_mean(m: Classified, first: str, second: str) -> Quantity:
    """2 a b / (a + b), and 0 for a = b = 0: the mean lies between its terms, so it tends to 0."""
    a, b = m.aggregate[first].or_zero(), m.aggregate[second].or_zero()
    both = a + b
    return fraction(2.0 * a * b, np.where(both == 0, 1.0, both), m.tally.no_samples)


def _harmonic_mean_slopes(first: Dual, second: Dual) -> Dual:
    return 2.0 * (first * second) / (first + second)


@dataclass(frozen=True)
class _Macro:
    """One way of averaging class values with equal weights."""

    suffix: str
    title: str
    over: str
    notes: str
    undefined_when: dict[Reason, str]
    scikit_learn: str
    formula: Callable[[str], Formula]
    slopes: Callable[[str], Slopes]


_MACRO_FAMILIES = (
    _Macro(
        "",
        "Macro {}",
        "mean of {} over the classes that occur or are predicted, undefined values as 0",
        "A class that occurs but is never predicted lowers the mean instead of being left out.",
        NO_SAMPLES,
        "{}_score(average='macro')",
        macro,
        _macro_slopes,
    ),
    _Macro(
        "_all_labels",
        "Macro {} (all labels)",
        "mean of {} over all K declared classes, undefined values as 0",
        "A declared class that neither occurs nor is predicted also counts as 0.",
        NO_SAMPLES,
        "{}_score(average='macro', labels=...)",
        macro_all_labels,
        _macro_all_labels_slopes,
    ),
    _Macro(
        "_defined",
        "Macro {} (defined classes only)",
        "mean of {} over the classes where it is defined",
        "Favours a classifier that never predicts some class, because that class is left out.",
        NO_SAMPLES,
        "{}_score(average='macro', zero_division=nan)",
        macro_defined,
        _macro_defined_slopes,
    ),
    _Macro(
        "_strict",
        "Macro {} (strict)",
        "mean of {} over all K declared classes",
        "Undefined if the value of any class is, as in PyCM.",
        NO_SAMPLES | CLASS_VALUE_UNDEFINED,
        "",
        macro_strict,
        # Where it is defined, the strict mean equals the one over all labels.
        _macro_all_labels_slopes,
    ),
)


_CLASS_METRICS = {"precision": "precision", "recall": "recall", "f1": "F1", "jaccard": "Jaccard"}

_ZENG_MACRO = {"precision": "item 9", "recall": "item 10", "f1": "item 12 (MA)"}

_INTERVALS = {"recall": MEAN_RECALL, "f1": f"{OF_MATRIX_LESS_BIAS} {FEW_OR_ABSENT}"}
_PYCM_STRICT = {"precision": "PPV Macro", "recall": "TPR Macro", "f1": "F1 Macro"}

_MACRO_IGNORES = {
    "precision": (PATTERN_OF_ERRORS, ERRING_CLASS),
    "recall": (PATTERN_OF_ERRORS, NAMED_CLASS),
    "f1": (PATTERN_OF_ERRORS,),
    "jaccard": (PATTERN_OF_ERRORS,),
}


def _macro(family: _Macro, key: str, name: str) -> AggregateMetric:
    other_names = {}
    if family.scikit_learn and (key != "jaccard" or family.suffix != "_defined"):
        other_names["scikit-learn"] = family.scikit_learn.format(key)
    if family.suffix == "_strict" and key in _PYCM_STRICT:
        other_names["PyCM"] = _PYCM_STRICT[key]
    return AggregateMetric(
        key=f"macro_{key}{family.suffix}",
        compute=family.formula(key),
        slopes=family.slopes(key),
        averages_classes=True,
        interval=_INTERVALS.get(key, f"{OF_MATRIX} {FEW_OR_ABSENT}"),
        title=family.title.format(name),
        formula=family.over.format(f"{name}_k"),
        source=f"{ZENG}, {_ZENG_MACRO[key]}" if key in _ZENG_MACRO else OPITZ,
        undefined_when=family.undefined_when,
        ignores=_MACRO_IGNORES[key],
        other_names=other_names,
        notes=family.notes,
        symmetry=_macro_symmetry(key, family.suffix),
    )


def _macro_symmetry(key: str, suffix: str) -> Symmetry:
    if key in ("f1", "jaccard"):
        return BOTH_ROLES_ALIKE
    partner = "recall" if key == "precision" else "precision"
    return with_all_inversions(
        roles=f"macro_{partner}{suffix}", prevalence_independent=key == "recall"
    )


SPECS: tuple[AggregateMetric, ...] = (
    *(
        _macro(family, key, name)
        for family in _MACRO_FAMILIES
        for key, name in _CLASS_METRICS.items()
    ),
    AggregateMetric(
        key="macro_f1_harmonic",
        compute=lambda m: _harmonic_mean(m, "macro_precision", "macro_recall"),
        slopes=lambda s: _harmonic_mean_slopes(
            _macro_slopes("precision")(s), _macro_slopes("recall")(s)
        ),
        averages_classes=True,
        interval=f"{OF_MATRIX} {FEW_OR_ABSENT}",
        title="Macro F1 (harmonic mean of macro precision and recall)",
        formula="2 P R / (P + R) of macro precision P and macro recall R; 0 if both are",
        source=f"{ZENG}, item 11 (MH); {OPITZ}",
        undefined_when=NO_SAMPLES,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Also called macro F1 elsewhere. It is never below macro_f1, and exceeds it by "
        "more, the more the precision and recall of a class differ.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
    AggregateMetric(
        key="weighted_f1_harmonic",
        compute=lambda m: _harmonic_mean(m, "weighted_precision", "weighted_recall"),
        slopes=lambda s: _harmonic_mean_slopes(
            weighted_slopes("precision")(s), weighted_slopes("recall")(s)
        ),
        title="Weighted F1 (harmonic mean of weighted precision and recall)",
        formula="2 P R / (P + R) of weighted precision P and weighted recall R; 0 if both are",
        source=f"{ZENG}, item 18",
        undefined_when=NO_SAMPLES,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Also called weighted F1 elsewhere.",
        symmetry=ORIENTED,
    ),
)
