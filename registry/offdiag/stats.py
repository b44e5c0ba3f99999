"""Intervals and tests for evaluations, counts and predictions: pure functions, no database.

An undefined result is None with a reason, never NaN. Unusable arguments raise `InvalidInput`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.inputs.ids import aligned
from offdiag.inputs.labels import order_of_no_labels
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.names import find_metric, nearest_names
from offdiag.metrics.paired import resampling
from offdiag.metrics.paired import scores as ranked_areas
from offdiag.metrics.paired.difference import paired_differences
from offdiag.metrics.paired.hypothesis_tests import (
    Bowker,
    CochranQ,
    McNemar,
    StuartMaxwell,
    benjamini_hochberg,
    bowker,
    cochran_q,
    holm,
    mcnemar,
    stuart_maxwell,
)
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.metrics.paired.resampling import PermutationTest
from offdiag.metrics.paired.scores import DeLong
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, labelled_suite
from offdiag.sdk.evaluations.intervals import (
    multilabel_intervals,
    score_intervals,
    suite_intervals,
)


@dataclass(frozen=True)
class PairedDifference:
    """Every metric of the second predictions minus the first, with the interval of the difference.

    `aggregate[key]` is one value, `per_class[key][label]` one for each class. `seed` is the given
    one, and `replicates` is 0, because nothing is resampled.
    """

    joint: JointCounts
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Mapping[str, MetricValue]]
    confidence: float
    seed: int
    replicates: int


def paired_difference(
    *,
    y_true: object,
    pred_a: object,
    pred_b: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    confidence: float = 0.95,
    replicates: int = 2_000,  # noqa: ARG001 - scripts may still name it
    seed: int = 0,
) -> PairedDifference:
    """By how much the metrics of `pred_b` differ from those of `pred_a` on the same n samples.

    Returns a `PairedDifference`: b minus a, each difference with its interval.

    * `y_true`, `pred_a`, `pred_b`: arrays of n labels (str, int or bool).
    * `labels`: the classes in order. Default: the labels found.
    * `ordinal`: whether the order of `labels` has a meaning.
    * `confidence`: the level of the intervals. Default: 0.95.
    * `replicates`, `seed`: without effect, because nothing is resampled; accepted for scripts
      written for 0.2.

    Raises `InvalidInput` for unusable arrays and a confidence outside (0, 1).
    """
    joint = _joint(y_true, pred_a, pred_b, labels=labels, ordinal=ordinal)
    found = paired_differences(joint, confidence=confidence)
    return PairedDifference(
        joint=joint,
        aggregate={
            key: found.aggregate_intervals[key].at().around(gap.at())
            for key, gap in found.aggregate.items()
        },
        per_class={
            key: {
                name: found.per_class_intervals[key].at(code).around(gap.at(code))
                for code, name in enumerate(joint.labels.names)
            }
            for key, gap in found.per_class.items()
        },
        confidence=found.confidence,
        seed=seed,
        replicates=0,
    )


def permutation_test(
    *,
    y_true: object,
    pred_a: object,
    pred_b: object,
    metric: str,
    label: object | None = None,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    replicates: int = 9_999,
    seed: int = 0,
) -> PermutationTest:
    """Test whether `pred_a` and `pred_b` differ in one metric by more than chance.

    * `metric`: an aggregate key, or a per-class key together with `label`. Names of scikit-learn
      are accepted.
    * `label`: the class of a per-class metric.
    * `replicates`: the number of permutations. Default: 9,999.
    * `seed`: the seed of the permutations. Default: 0.
    * `y_true`, `pred_a`, `pred_b`, `labels`, `ordinal`: as in `paired_difference`.

    Raises `InvalidInput` as `paired_difference` does, and for an unknown metric or label.
    """
    joint = _joint(y_true, pred_a, pred_b, labels=labels, ordinal=ordinal)
    known = AGGREGATE_KEYS if label is None else PER_CLASS_KEYS
    named = find_metric(metric, known)
    if named is None:
        raise InvalidInput(
            f"there is no metric {metric!r}{'' if label is None else ' of a class'}.",
            field="metric",
            hint=nearest_names(metric, known) or f"Use one of: {', '.join(known)}.",
        )
    key, sign = named.key, -1.0 if named.is_negated else 1.0
    code = None if label is None else joint.labels.code_of(label, field_name="label")

    def statistic(stack: NDArray[np.int64]) -> NDArray[np.float64]:
        suite = labelled_suite(stack, joint.labels)
        if code is None:
            return sign * suite.aggregate[key].value
        return sign * suite.per_class[key].value[:, code]

    return resampling.permutation_test(joint, statistic, seed=seed, replicates=replicates)


def _joint(
    y_true: object,
    pred_a: object,
    pred_b: object,
    *,
    labels: LabelSet | Iterable[object] | None,
    ordinal: bool,
) -> JointCounts:
    from offdiag.inputs.ids import aligned
    from offdiag.inputs.labels import encode_labels, infer_labels, require_equal_lengths

    arrays = aligned(y_true=y_true, pred_a=pred_a, pred_b=pred_b)
    if labels is not None:
        known = LabelSet.declared(labels, ordinal=ordinal)
    elif ordinal:
        raise order_of_no_labels()
    else:
        known = infer_labels(*arrays.items())
    codes = {field: encode_labels(values, known, field=field) for field, values in arrays.items()}
    require_equal_lengths(**{field: len(found) for field, found in codes.items()})
    return joint_counts(
        actual=codes["y_true"], first=codes["pred_a"], second=codes["pred_b"], labels=known
    )


__all__ = [
    "Bowker",
    "CochranQ",
    "DeLong",
    "McNemar",
    "PairedDifference",
    "PermutationTest",
    "StuartMaxwell",
    "benjamini_hochberg",
    "bowker",
    "clopper_pearson",
    "cochran_q",
    "delong",
    "holm",
    "mcnemar",
    "multilabel_intervals",
    "paired_difference",
    "permutation_test",
    "score_intervals",
    "stuart_maxwell",
    "suite_intervals",
    "wilson",
]

Count: TypeAlias = "int | np.integer[Any]"
Counts: TypeAlias = "Sequence[int] | NDArray[Any]"
Ends: TypeAlias = "tuple[float | None, float | None]"
ManyEnds: TypeAlias = "tuple[np.ma.MaskedArray[Any, Any], np.ma.MaskedArray[Any, Any]]"


@overload
def wilson(x: Count, n: Count, confidence: float = 0.95) -> Ends: ...
@overload
def wilson(x: Counts, n: Counts | Count, confidence: float = 0.95) -> ManyEnds: ...
def wilson(x: Count | Counts, n: Count | Counts, confidence: float = 0.95) -> Ends | ManyEnds:
    """Wilson's score interval (low, high) of x hits in n samples, for display.

    With arrays, both ends are masked arrays. Without samples there is no interval: (None, None),
    or masked entries. Raises `InvalidInput` for counts that are negative or not whole, and for
    more hits than samples.

    >>> low, high = wilson(2, 5)
    >>> round(low, 4), round(high, 4)
    (0.1176, 0.7693)
    """
    return _ends(proportions.wilson(x, n, confidence=confidence))


@overload
def clopper_pearson(x: Count, n: Count, confidence: float = 0.95) -> Ends: ...
@overload
def clopper_pearson(x: Counts, n: Counts | Count, confidence: float = 0.95) -> ManyEnds: ...
def clopper_pearson(
    x: Count | Counts, n: Count | Counts, confidence: float = 0.95
) -> Ends | ManyEnds:
    """The exact interval (low, high) of x hits in n samples, for guaranteed coverage.

    Its coverage is never below the confidence, and mostly above it. Arguments, results and errors
    are those of `wilson`.
    """
    return _ends(proportions.clopper_pearson(x, n, confidence=confidence))


def delong(y_true: ArrayLike, score_a: ArrayLike, score_b: ArrayLike) -> DeLong:
    """Compare the areas under the ROC curves of two scores of the same n samples.

    * `y_true`: 0 and 1, or booleans, shape (n,).
    * `score_a`, `score_b`: finite numbers, higher for 1, shape (n,). Series of pandas are paired
      by their index.

    `p` is two-sided. The method is that of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44,
    837). Areas without samples of both classes, and `z` without variance, are None with the
    reason. Raises `InvalidInput` for unequal lengths, other labels, and scores that are not
    finite.
    """
    return ranked_areas.delong(**aligned(y_true=y_true, score_a=score_a, score_b=score_b))


def _ends(bounds: Bounds) -> Ends | ManyEnds:
    if bounds.low.ndim == 0:
        return bounds.at()
    return np.ma.masked_invalid(bounds.low), np.ma.masked_invalid(bounds.high)
