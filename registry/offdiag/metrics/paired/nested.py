"""The answers of two thresholds on one score, which need no cases to be paired."""

from __future__ import annotations

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.probabilistic.operating_points import OperatingPoints


def joint_of_points(
    points: OperatingPoints, first: int, second: int, *, positive: int, labels: LabelSet
) -> JointCounts:
    """The answers of two thresholds on the same cases: the looser one flags all the stricter does.

    `first` and `second` are places; classes are those of a data set with two.
    """
    negative = 1 - positive
    answers: dict[tuple[int, int, int], int] = {}
    for code, flagged, cases in (
        (positive, points.true_positives, points.n_positive),
        (negative, points.false_positives, points.n_negative),
    ):
        before, after = int(flagged[first]), int(flagged[second])
        answers[code, positive, positive] = min(before, after)
        answers[code, positive, negative] = max(before - after, 0)
        answers[code, negative, positive] = max(after - before, 0)
        answers[code, negative, negative] = cases - max(before, after)
    occurring = sorted(triple for triple, count in answers.items() if count)
    counts = np.array([answers[triple] for triple in occurring], dtype=np.int64)
    actual, first_codes, second_codes = (
        np.array([triple[side] for triple in occurring], dtype=np.int64) for side in range(3)
    )
    return JointCounts(actual, first_codes, second_codes, counts, labels)
