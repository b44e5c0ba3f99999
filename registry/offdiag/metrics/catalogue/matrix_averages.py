"""Aggregate entries: averages of class values, one family for each way of averaging."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.values import Reason
from offdiag.metrics.spec import (
    CLASS_VALUE_UNDEFINED,
    ERRING_CLASS,
    NAMED_CLASS,
    NO_CASES,
    PATTERN_OF_ERRORS,
    ZENG,
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
)

_ROLES = Transformation.ROLE_SWAP
_ANY_ERROR = (PATTERN_OF_ERRORS, NAMED_CLASS, ERRING_CLASS)
_ACCURACY = Symmetry(
    role_swap=True, class_inversion=True, scoring_inversion=True, full_inversion=True
)
_BOTH_ROLES_ALIKE = Symmetry(role_swap=True, class_inversion=True)
_ORIENTED = Symmetry(class_inversion=True)
_OPITZ = "Opitz and Burst 2019, arXiv 1911.03347"


@dataclass(frozen=True)
class _Macro:
    """One way of averaging class values that count the same."""

    suffix: str
    title: str
    over: str
    notes: str
    undefined_when: dict[Reason, str]
    scikit_learn: str


_MACRO_FAMILIES = (
    _Macro(
        "",
        "Macro {}",
        "mean of {} over the classes that occur or are predicted, undefined values as 0",
        "A class that occurs but is never predicted pulls the mean down instead of vanishing.",
        NO_CASES,
        "{}_score(average='macro')",
    ),
    _Macro(
        "_all_labels",
        "Macro {} over all labels",
        "mean of {} over all K declared classes, undefined values as 0",
        "A declared class without any trace in the data counts as 0 as well.",
        NO_CASES,
        "{}_score(average='macro', labels=...)",
    ),
    _Macro(
        "_defined",
        "Macro {} over defined classes",
        "mean of {} over the classes where it is defined",
        "Flatters a classifier that never names a class: the class simply drops out.",
        NO_CASES,
        "{}_score(average='macro', zero_division=nan)",
    ),
    _Macro(
        "_strict",
        "Macro {}, strict",
        "mean of {} over all K declared classes",
        "Undefined as soon as one class value is, like the averages of PyCM.",
        NO_CASES | CLASS_VALUE_UNDEFINED,
        "",
    ),
)
_CLASS_METRICS = {"precision": "precision", "recall": "recall", "f1": "F1", "jaccard": "Jaccard"}
_ZENG_MACRO = {"precision": "item 9", "recall": "item 10", "f1": "item 12 (MA)"}
_PYCM_STRICT = {"precision": "PPV Macro", "recall": "TPR Macro", "f1": "F1 Macro"}


def _macro(family: _Macro, key: str, name: str) -> MetricSpec:
    other_names = {}
    if family.scikit_learn and (key != "jaccard" or family.suffix != "_defined"):
        other_names["scikit-learn"] = family.scikit_learn.format(key)
    if family.suffix == "_strict" and key in _PYCM_STRICT:
        other_names["PyCM"] = _PYCM_STRICT[key]
    return MetricSpec(
        key=f"macro_{key}{family.suffix}",
        scope=Scope.AGGREGATE,
        title=family.title.format(name),
        formula=family.over.format(f"{name}_k"),
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, {_ZENG_MACRO[key]}" if key in _ZENG_MACRO else _OPITZ,
        undefined_when=family.undefined_when,
        ignores=_MACRO_IGNORES[key],
        other_names=other_names,
        notes=family.notes,
        symmetry=_macro_symmetry(key, family.suffix),
    )


_MACRO_IGNORES = {
    "precision": (PATTERN_OF_ERRORS, ERRING_CLASS),
    "recall": (PATTERN_OF_ERRORS, NAMED_CLASS),
    "f1": (PATTERN_OF_ERRORS,),
    "jaccard": (PATTERN_OF_ERRORS,),
}


def _macro_symmetry(key: str, suffix: str) -> Symmetry:
    if key in ("f1", "jaccard"):
        return _BOTH_ROLES_ALIKE
    partner = "recall" if key == "precision" else "precision"
    return Symmetry(
        class_inversion=True,
        scoring_inversion=True,
        full_inversion=True,
        prevalence_independent=key == "recall",
        becomes={_ROLES: f"macro_{partner}{suffix}"},
    )


def _micro(key: str, name: str, item: str) -> MetricSpec:
    return MetricSpec(
        key=f"micro_{key}",
        scope=Scope.AGGREGATE,
        title=f"Micro {name}",
        formula="S / N, the accuracy: each error is one false positive and one false negative",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, {item} and Property 4",
        undefined_when=NO_CASES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": f"{key}_score(average='micro')"},
        notes="Differs from the accuracy only where a case can have several labels.",
        symmetry=_ACCURACY,
    )


def _weighted(key: str, name: str, source: str, symmetry: Symmetry) -> MetricSpec:
    return MetricSpec(
        key=f"weighted_{key}",
        scope=Scope.AGGREGATE,
        title=f"Weighted {name}",
        formula=f"sum t_k {name}_k / N, undefined values as 0",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=source,
        undefined_when=NO_CASES,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"scikit-learn": f"{key}_score(average='weighted')"},
        notes="Large classes dominate, as they do the accuracy.",
        symmetry=symmetry,
    )


SPECS: tuple[MetricSpec, ...] = (
    _micro("precision", "precision", "item 13"),
    _micro("recall", "recall", "item 14"),
    _micro("f1", "F1", "item 15"),
    MetricSpec(
        key="micro_jaccard",
        scope=Scope.AGGREGATE,
        title="Micro Jaccard",
        formula="S / (2 N - S)",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Jaccard 1912, New Phytologist 11(2), 37-50, on pooled counts",
        undefined_when=NO_CASES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": "jaccard_score(average='micro')"},
        notes="OA / (2 - OA): orders classifiers as the accuracy does.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    _weighted("precision", "precision", f"{ZENG}, item 16", _ORIENTED),
    MetricSpec(
        key="weighted_recall",
        scope=Scope.AGGREGATE,
        title="Weighted recall",
        formula="sum t_k recall_k / N = S / N, the accuracy",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, item 17 and Property 4",
        undefined_when=NO_CASES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": "recall_score(average='weighted')"},
        symmetry=_ACCURACY,
    ),
    _weighted("f1", "F1", f"{ZENG}, Table 11 (its item 18 is weighted_f1_harmonic)", _ORIENTED),
    _weighted("jaccard", "Jaccard", _OPITZ, _ORIENTED),
    MetricSpec(
        key="weighted_precision_defined",
        scope=Scope.AGGREGATE,
        title="Weighted precision over predicted classes",
        formula="sum t_k precision_k / sum t_k over the classes with p_k > 0",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, item 16, without undefined classes",
        undefined_when=NO_CASES
        | {Reason.CLASS_VALUE_UNDEFINED: "only classes without actual cases are predicted"},
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"scikit-learn": "precision_score(average='weighted', zero_division=nan)"},
        notes="Flatters a classifier that never names a class: the class simply drops out.",
        symmetry=_ORIENTED,
    ),
    *(
        _macro(family, key, name)
        for family in _MACRO_FAMILIES
        for key, name in _CLASS_METRICS.items()
    ),
    MetricSpec(
        key="macro_f1_harmonic",
        scope=Scope.AGGREGATE,
        title="Harmonic mean of macro precision and macro recall",
        formula="2 P R / (P + R) of macro precision P and macro recall R; 0 if both are",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, item 11 (MH); {_OPITZ}",
        undefined_when=NO_CASES,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Elsewhere also called macro F1. Never below macro_f1, and higher the more "
        "precision and recall of a class differ.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="weighted_f1_harmonic",
        scope=Scope.AGGREGATE,
        title="Harmonic mean of weighted precision and weighted recall",
        formula="2 P R / (P + R) of weighted precision P and weighted recall R; 0 if both are",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=f"{ZENG}, item 18",
        undefined_when=NO_CASES,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Elsewhere also called weighted F1.",
        symmetry=_ORIENTED,
    ),
)
