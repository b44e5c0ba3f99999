"""Comparing two sets of predictions of the same cases in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet, require_known
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.paired import resampling
from offdiag.metrics.paired.difference import paired_differences
from offdiag.metrics.paired.joint import JointCounts, joint_counts
from offdiag.metrics.paired.resampling import PermutationTest
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack


@dataclass(frozen=True)
class PairedDifference:
    """Second minus first set of predictions: every metric with the interval of its difference.

    `aggregate[key]` is one value, `per_class[key][label]` one for each class. `seed` repeats
    the resampling; `replicates` is 0 where nothing was resampled.
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
    replicates: int = 2_000,
    seed: int = 0,
) -> PairedDifference:
    """How much predictions `pred_b` differ from `pred_a` of the same n cases.

    The three arrays hold n labels each (str, int or bool). `labels` declares the classes;
    without it they are those found. Raises `InvalidInput` for unusable arrays, a confidence
    outside (0, 1) and no replicates.
    """
    joint = _joint(y_true, pred_a, pred_b, labels=labels, ordinal=ordinal)
    found = paired_differences(joint, seed=seed, confidence=confidence, replicates=replicates)
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
        seed=found.seed,
        replicates=found.replicates,
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

    `metric` is an aggregate key, or a per-class key together with the `label` of the class.
    Other arguments and errors as in `paired_difference`; also `InvalidInput` for a metric or
    label that does not exist.
    """
    joint = _joint(y_true, pred_a, pred_b, labels=labels, ordinal=ordinal)
    if label is None:
        require_known(metric, AGGREGATE_KEYS, field_name="metric")
    else:
        require_known(metric, PER_CLASS_KEYS, field_name="metric")
    code = None if label is None else joint.labels.code_of(label, field_name="label")

    def statistic(stack: NDArray[np.int64]) -> NDArray[np.float64]:
        suite = evaluate_stack(stack, ordinal=joint.labels.has_declared_order)
        if code is None:
            return suite.aggregate[metric].value
        return suite.per_class[metric].value[:, code]

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
    if isinstance(labels, LabelSet):
        known = labels
    elif labels is not None:
        known = LabelSet.declared(labels, ordinal=ordinal)
    elif ordinal:
        raise InvalidInput(
            "an order was claimed but no labels were declared.",
            field="ordinal",
            hint="Give labels= in their order.",
        )
    else:
        known = infer_labels(*arrays.items())
    codes = {field: encode_labels(values, known, field=field) for field, values in arrays.items()}
    require_equal_lengths(**{field: len(found) for field, found in codes.items()})
    return joint_counts(
        actual=codes["y_true"], first=codes["pred_a"], second=codes["pred_b"], labels=known
    )
