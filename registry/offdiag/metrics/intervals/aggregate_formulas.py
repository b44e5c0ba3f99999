"""The aggregate metrics that depend on hits and margins only, in dual numbers.

N is 1 here: all metrics are the same for any multiple of a matrix, and a slope that is
constant over the cells has no part in a variance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from offdiag.metrics.dual import ClassShares, Dual

Formula = Callable[[ClassShares], Dual]

_RATES: dict[str, Callable[[ClassShares], Dual]] = {
    "precision": lambda s: s.precision,
    "recall": lambda s: s.recall,
    "f1": lambda s: s.f1,
    "jaccard": lambda s: s.jaccard,
}


def _macro(key: str) -> Formula:
    return lambda s: _RATES[key](s).total() / len(s.codes)


def _macro_all_labels(key: str) -> Formula:
    return lambda s: _RATES[key](s).total() / s.n_classes


def _macro_defined(key: str) -> Formula:
    def mean(s: ClassShares) -> Dual:
        defined = {"recall": s.has_cases, "precision": s.is_predicted}
        n_defined = int(defined[key].sum()) if key in defined else len(s.codes)
        return _RATES[key](s).total() / n_defined

    return mean


def _weighted(key: str) -> Formula:
    return lambda s: (s.actual * _RATES[key](s)).total()


def _weighted_precision_defined(s: ClassShares) -> Dual:
    covered = s.actual.where(s.is_predicted).total()
    return (s.actual * s.precision).total() / covered


def _harmonic_mean(first: Dual, second: Dual) -> Dual:
    return 2.0 * (first * second) / (first + second)


def _balanced_accuracy(s: ClassShares) -> Dual:
    return s.recall.total() / int(s.has_cases.sum())


def _balanced_accuracy_adjusted(s: ClassShares) -> Dual:
    n_actual = int(s.has_cases.sum())
    return (s.recall.total() - 1.0) / (n_actual - 1) if n_actual > 1 else _undefined(s)


def _gmean_multiclass(s: ClassShares) -> Dual:
    logs = s.recall.log().where(s.has_cases).total()
    return (logs / int(s.has_cases.sum())).exp()


def _mcc(s: ClassShares) -> Dual:
    actual_spread = 1.0 - (s.actual * s.actual).total()
    predicted_spread = 1.0 - (s.predicted * s.predicted).total()
    return (s.accuracy - s.chance_hits) / (actual_spread * predicted_spread).sqrt()


def _cohen_kappa(s: ClassShares) -> Dual:
    return (s.accuracy - s.chance_hits) / (1.0 - s.chance_hits)


def _pooled_squares(s: ClassShares) -> Dual:
    pooled = s.actual + s.predicted
    return 0.25 * (pooled * pooled).total()


def _scott_pi(s: ClassShares) -> Dual:
    chance = _pooled_squares(s)
    return (s.accuracy - chance) / (1.0 - chance)


def _gwet_ac1(s: ClassShares) -> Dual:
    if s.n_classes == 1:
        return _undefined(s)
    chance = (1.0 - _pooled_squares(s)) / (s.n_classes - 1)
    return (s.accuracy - chance) / (1.0 - chance)


def _informedness_multiclass(s: ClassShares) -> Dual:
    false_alarms = s.predicted - s.hits
    return (s.predicted * (s.hits / s.actual - false_alarms / (1.0 - s.actual))).total()


def _markedness_multiclass(s: ClassShares) -> Dual:
    missed = s.actual - s.hits
    return (s.actual * (s.hits / s.predicted - missed / (1.0 - s.predicted))).total()


def _micro_jaccard(s: ClassShares) -> Dual:
    return s.accuracy / (2.0 - s.accuracy)


def _undefined(s: ClassShares) -> Dual:
    return np.nan * s.accuracy


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "overall_accuracy": lambda s: s.accuracy,
        "error_rate": lambda s: 1.0 - s.accuracy,
        "average_accuracy": lambda s: 1.0 - 2.0 * (1.0 - s.accuracy) / s.n_classes,
        "average_error_rate": lambda s: 2.0 * (1.0 - s.accuracy) / s.n_classes,
        "micro_precision": lambda s: s.accuracy,
        "micro_recall": lambda s: s.accuracy,
        "micro_f1": lambda s: s.accuracy,
        "micro_jaccard": _micro_jaccard,
        "balanced_accuracy": _balanced_accuracy,
        "balanced_accuracy_adjusted": _balanced_accuracy_adjusted,
        "gmean_multiclass": _gmean_multiclass,
        "mcc": _mcc,
        "cohen_kappa": _cohen_kappa,
        "scott_pi": _scott_pi,
        "gwet_ac1": _gwet_ac1,
        "informedness_multiclass": _informedness_multiclass,
        "markedness_multiclass": _markedness_multiclass,
        **{f"macro_{key}": _macro(key) for key in _RATES},
        **{f"macro_{key}_all_labels": _macro_all_labels(key) for key in _RATES},
        **{f"macro_{key}_defined": _macro_defined(key) for key in _RATES},
        # Where it is defined, the strict mean is the one over all labels.
        **{f"macro_{key}_strict": _macro_all_labels(key) for key in _RATES},
        **{f"weighted_{key}": _weighted(key) for key in _RATES},
        "weighted_precision_defined": _weighted_precision_defined,
        "macro_f1_harmonic": lambda s: _harmonic_mean(_macro("precision")(s), _macro("recall")(s)),
        "weighted_f1_harmonic": lambda s: _harmonic_mean(
            _weighted("precision")(s), _weighted("recall")(s)
        ),
    }
)
