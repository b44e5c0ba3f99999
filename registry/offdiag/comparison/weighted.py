"""Two runs on the same weighted samples."""

from __future__ import annotations

from offdiag.comparison.differences import OF_CLASSES, headline_values, plain_class_values
from offdiag.comparison.pair import (
    PairComparison,
    PairedFacts,
    churn_of,
    churn_of_classes,
    class_gaps,
    differences_of,
    paired_comparison,
)
from offdiag.metrics.paired.class_changes import changes_by_slopes
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.weighted import (
    WeightedPair,
    judge_weighted_together,
    weighted_class_moves,
)


def compare_weighted(pair: WeightedPair, *, seed: int, confidence: float = 0.95) -> PairComparison:
    """Compare two runs, as `compare_paired` does of counts; numbers of samples stay exact.

    Every difference takes the linearized test; McNemar's and those of the margins, which count
    samples, are not made.
    """
    sides = pair.sides
    values = headline_values(sides[0]), headline_values(sides[1])
    together = judge_weighted_together(
        pair, differences_of(*values), confidence=confidence, seed=seed
    )
    plain = plain_class_values(sides[0]), plain_class_values(sides[1])
    changes = {
        key: changes_by_slopes(
            class_gaps(plain[0][key], plain[1][key]),
            *weighted_class_moves(pair, key),
            sides[0].class_sizes,
            "class",
            confidence=confidence,
        )
        for key in OF_CLASSES
    }
    joint = joint_counts(
        actual=pair.actual, first=pair.first, second=pair.second, labels=pair.labels
    )
    return paired_comparison(
        sides,
        rates=None,
        together=together,
        changes=changes,
        facts=PairedFacts(
            churn_of(joint),
            churn_of_classes(joint),
            None,
            None,
            None,
            int((pair.first == pair.second).sum()),
        ),
    )
