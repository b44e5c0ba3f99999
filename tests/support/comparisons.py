"""Two or more runs made up so that their joint table is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from offdiag.comparison.pair import PairComparison, compare_paired
from offdiag.domain.labels import LabelSet
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts

Triple = tuple[str, str, str, int]
"""Actual class, answer of A, answer of B, number of samples."""


def joint_of(triples: Iterable[Triple], labels: Sequence[str]) -> JointCounts:
    """The joint counts of stated cases."""
    known = LabelSet(tuple(labels))
    cases = [triple[:3] for triple in triples for _ in range(triple[3])]
    actual, first, second = (
        np.array([known.index[name] for name in names], np.uint8)
        for names in zip(*cases, strict=True)
    )
    return joint_counts(actual=actual, first=first, second=second, labels=known)


def pair_of(triples: Sequence[Triple], labels: Sequence[str] = ("yes", "no")) -> PairComparison:
    """The comparison of stated cases."""
    return compare_paired(joint_of(triples, labels))


BOTH_RIGHT: tuple[Triple, ...] = (("yes", "yes", "yes", 60), ("no", "no", "no", 60))
"""Cases of two classes on which two runs are right."""
