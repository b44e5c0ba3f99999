"""The per-class metrics in dual numbers: functions of the four one-vs-rest shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.dual import Dual, variables


@dataclass(frozen=True)
class OutcomeShares:
    """True positives, false negatives, false positives and true negatives as shares of N.

    For each class they sum to 1.
    """

    tp: Dual
    fn: Dual
    fp: Dual
    tn: Dual

    @property
    def positives(self) -> Dual:
        return self.tp + self.fn

    @property
    def negatives(self) -> Dual:
        return self.fp + self.tn

    @property
    def predicted(self) -> Dual:
        return self.tp + self.fp

    @property
    def not_predicted(self) -> Dual:
        return self.fn + self.tn

    @property
    def recall(self) -> Dual:
        return self.tp / self.positives

    @property
    def specificity(self) -> Dual:
        return self.tn / self.negatives

    @property
    def fpr(self) -> Dual:
        return self.fp / self.negatives

    @property
    def determinant(self) -> Dual:
        return self.tp * self.tn - self.fp * self.fn


def outcome_shares(matrix: ConfusionMatrix) -> OutcomeShares:
    """The four shares of every class of a non-empty matrix, duals of four variables."""
    hits = np.diagonal(matrix.counts)
    missed, false_alarms = matrix.actual - hits, matrix.predicted - hits
    rejected = matrix.total - matrix.actual - false_alarms
    return OutcomeShares(
        *variables(*(part / matrix.total for part in (hits, missed, false_alarms, rejected)))
    )


def _f_beta(beta: float) -> Callable[[OutcomeShares], Dual]:
    square = beta * beta

    def formula(s: OutcomeShares) -> Dual:
        hits = (1 + square) * s.tp
        return hits / (hits + square * s.fn + s.fp)

    return formula


def _mcc(s: OutcomeShares) -> Dual:
    spread = (s.positives * s.negatives).sqrt() * (s.predicted * s.not_predicted).sqrt()
    return s.determinant / spread


def _prevalence_threshold(s: OutcomeShares) -> Dual:
    false_side = s.fpr.sqrt()
    return false_side / (s.recall.sqrt() + false_side)


def _p4(s: OutcomeShares) -> Dual:
    hits = 4.0 * (s.tp * s.tn)
    return hits / (hits + (s.tp + s.tn) * (s.fp + s.fn))


CLASS_FORMULAS: Mapping[str, Callable[[OutcomeShares], Dual]] = MappingProxyType(
    {
        "prevalence": lambda s: s.positives,
        "predicted_rate": lambda s: s.predicted,
        "recall": lambda s: s.recall,
        "specificity": lambda s: s.specificity,
        "precision": lambda s: s.tp / s.predicted,
        "npv": lambda s: s.tn / s.not_predicted,
        "fpr": lambda s: s.fpr,
        "fnr": lambda s: s.fn / s.positives,
        "fdr": lambda s: s.fp / s.predicted,
        "for": lambda s: s.fn / s.not_predicted,
        "f1": _f_beta(1.0),
        "f0_5": _f_beta(0.5),
        "f2": _f_beta(2.0),
        "jaccard": lambda s: s.tp / (s.positives + s.fp),
        "accuracy_ovr": lambda s: s.tp + s.tn,
        "balanced_accuracy_ovr": lambda s: 0.5 * (s.recall + s.specificity),
        "informedness": lambda s: s.recall - s.fpr,
        "markedness": lambda s: s.determinant / (s.predicted * s.not_predicted),
        "gmean": lambda s: (s.recall * s.specificity).sqrt(),
        "fowlkes_mallows": lambda s: s.tp / (s.positives * s.predicted).sqrt(),
        "mcc_ovr": _mcc,
        "lr_plus": lambda s: s.recall / s.fpr,
        "lr_minus": lambda s: (s.fn / s.positives) / s.specificity,
        "prevalence_threshold": _prevalence_threshold,
        "dor": lambda s: (s.tp * s.tn) / (s.fp * s.fn),
        "lift": lambda s: s.tp / (s.positives * s.predicted),
        "p4": _p4,
    }
)
