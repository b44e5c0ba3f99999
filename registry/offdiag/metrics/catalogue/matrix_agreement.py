"""Aggregate entries: agreement beyond chance, and information."""

from __future__ import annotations

import math

from offdiag.domain.values import Reason
from offdiag.metrics.spec import (
    CLASS_VALUE_UNDEFINED,
    NO_CASES,
    ONE_CLASS_EVERYWHERE,
    PATTERN_OF_ERRORS,
    POWERS,
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
)

_ROLES = Transformation.ROLE_SWAP
_BOTH_ROLES_ALIKE = Symmetry(role_swap=True, class_inversion=True)
_ORDERED = Symmetry(role_swap=True, class_inversion=True, label_permutation=False)
_NEEDS_ORDER = {
    Reason.ORDER_NOT_DECLARED: "the labels were found in data, so nobody declared their order"
}

SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="mcc",
        scope=Scope.AGGREGATE,
        title="Matthews correlation",
        symbol="R_K",
        formula="(S N - sum t_k p_k) / sqrt((N^2 - sum p_k^2)(N^2 - sum t_k^2))",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Gorodkin 2004, Computational Biology and Chemistry 28(5-6), 367-374",
        undefined_when=NO_CASES
        | {
            Reason.CONSTANT_ACTUAL: "only one class has cases",
            Reason.CONSTANT_PREDICTED: "only one class is ever predicted",
            Reason.CONSTANT_MARGIN: "only one class has cases and only one is predicted",
        },
        ignores=(PATTERN_OF_ERRORS,),
        other_names={
            "scikit-learn": "matthews_corrcoef (0 where undefined)",
            "PyCM": "Overall MCC",
            "torchmetrics": "matthews_corrcoef (up to 1 for a constant answer)",
        },
        notes="0 is chance. Depends on the prevalence: the same two rates give .79 at one half "
        "and .17 at one in a thousand. Only with two classes can it reach -1.",
        symmetry=Symmetry(
            role_swap=True, class_inversion=True, scoring_inversion=True, full_inversion=True
        ),
    ),
    MetricSpec(
        key="cohen_kappa",
        scope=Scope.AGGREGATE,
        title="Cohen's kappa",
        symbol="kappa",
        formula="(S N - sum t_k p_k) / (N^2 - sum t_k p_k)",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Cohen 1960, Educational and Psychological Measurement 20(1), 37-46",
        undefined_when=ONE_CLASS_EVERYWHERE,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={
            "scikit-learn": "cohen_kappa_score",
            "PyCM": "Kappa",
            "torchmetrics": "cohen_kappa",
            "statsmodels": "cohens_kappa",
            "caret": "Kappa",
        },
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="kappa_linear",
        scope=Scope.AGGREGATE,
        title="Linearly weighted kappa",
        formula="1 - N sum |i - j| c_ij / sum |i - j| t_i p_j",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Cohen 1968, Psychological Bulletin 70(4), 213-220",
        undefined_when=ONE_CLASS_EVERYWHERE | _NEEDS_ORDER,
        other_names={
            "scikit-learn": "cohen_kappa_score(weights='linear') (over sorted labels)",
            "PyCM": "weighted_kappa",
            "statsmodels": "cohens_kappa(wt='linear')",
        },
        notes="Follows the declared order of the labels.",
        symmetry=_ORDERED,
    ),
    MetricSpec(
        key="kappa_quadratic",
        scope=Scope.AGGREGATE,
        title="Quadratically weighted kappa",
        formula="1 - N sum (i - j)^2 c_ij / sum (i - j)^2 t_i p_j",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Cohen 1968, Psychological Bulletin 70(4), 213-220",
        undefined_when=ONE_CLASS_EVERYWHERE | _NEEDS_ORDER,
        other_names={
            "scikit-learn": "cohen_kappa_score(weights='quadratic') (over sorted labels)",
            "PyCM": "weighted_kappa",
            "statsmodels": "cohens_kappa(wt='quadratic')",
        },
        notes="Follows the declared order of the labels. Far errors count much more than near "
        "ones, and the middle classes hardly at all.",
        symmetry=_ORDERED,
    ),
    MetricSpec(
        key="scott_pi",
        scope=Scope.AGGREGATE,
        title="Scott's pi",
        symbol="pi",
        formula="(OA - e) / (1 - e), e = sum ((t_k + p_k) / 2N)^2",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Scott 1955, Public Opinion Quarterly 19(3), 321-325",
        undefined_when=ONE_CLASS_EVERYWHERE,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"PyCM": "Scott PI"},
        notes="Never above Cohen's kappa; equal where both margins are.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="gwet_ac1",
        scope=Scope.AGGREGATE,
        title="Gwet's AC1",
        symbol="AC1",
        formula="(OA - e) / (1 - e), e = sum q_k (1 - q_k) / (K - 1), q_k = (t_k + p_k) / 2N",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source="Gwet 2008, British Journal of Math. and Stat. Psychology 61(1), 29-48",
        undefined_when=NO_CASES
        | {Reason.SINGLE_CLASS_DECLARED: "only one class is declared (K = 1)"},
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"PyCM": "Gwet AC1"},
        notes="Stays high for a constant answer on very unequal classes, where kappa is 0.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="mutual_information",
        scope=Scope.AGGREGATE,
        title="Mutual information",
        symbol="I",
        formula="sum c_ij / N ln(c_ij N / (t_i p_j)), in nats",
        low=0,
        high=math.inf,
        direction=Direction.HIGHER,
        source="Shannon 1948, Bell System Technical Journal 27(3), 379-423",
        undefined_when=NO_CASES,
        other_names={
            "scikit-learn": "mutual_info_score",
            "PyCM": "Mutual Information (in bits)",
        },
        notes="What an answer tells, even if the labels are mixed up: a classifier that is "
        "always wrong in the same way scores as high as a perfect one.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="normalized_mutual_information",
        scope=Scope.AGGREGATE,
        title="Normalised mutual information",
        symbol="NMI",
        formula="2 I / (H(actual) + H(predicted))",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Vinh et al. 2010, Journal of Machine Learning Research 11, 2837-2854 (sum)",
        undefined_when=NO_CASES
        | {Reason.CONSTANT_MARGIN: "only one class has cases and only one is predicted"},
        other_names={"scikit-learn": "normalized_mutual_info_score (1 where undefined)"},
        notes="Blind to which answer means which class, as mutual information is.",
        symmetry=_BOTH_ROLES_ALIKE,
    ),
    MetricSpec(
        key="informedness_multiclass",
        scope=Scope.AGGREGATE,
        title="Multi-class informedness",
        formula="sum p_k / N informedness_k",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source=POWERS,
        undefined_when=NO_CASES | CLASS_VALUE_UNDEFINED,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Provisional: the weights follow one source, and no other library has it.",
        symmetry=Symmetry(
            class_inversion=True,
            scoring_inversion=True,
            full_inversion=True,
            becomes={_ROLES: "markedness_multiclass"},
        ),
    ),
    MetricSpec(
        key="markedness_multiclass",
        scope=Scope.AGGREGATE,
        title="Multi-class markedness",
        formula="sum t_k / N markedness_k",
        low=-1,
        high=1,
        direction=Direction.HIGHER,
        source=POWERS,
        undefined_when=NO_CASES | CLASS_VALUE_UNDEFINED,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Provisional: the weights follow one source, and no other library has it.",
        symmetry=Symmetry(
            class_inversion=True,
            scoring_inversion=True,
            full_inversion=True,
            becomes={_ROLES: "informedness_multiclass"},
        ),
    ),
)
