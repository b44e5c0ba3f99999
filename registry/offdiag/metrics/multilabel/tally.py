"""Everything counted about sets of labels, one pass over the cases, mergeable over chunks.

Tallies of disjoint chunks add up to the tally of all cases, in any order and grouping, to the
last bit: all their parts are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.empty_sets import EmptySets, count_empty_sets
from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.examples import ExampleSums, sum_over_examples
from offdiag.metrics.multilabel.label_counts import LabelCounts, count_labels
from offdiag.metrics.multilabel.mass import MultilabelMatrix, multilabel_matrix, spread_mass
from offdiag.metrics.multilabel.patterns import distinct_patterns, has_labels


@dataclass(frozen=True, eq=False)
class SetTally:
    """Counts over n cases with a true and a predicted set of q labels each.

    `mass` has the cells of the multi-label matrix; the other parts say what they count.
    """

    labels: LabelCounts
    examples: ExampleSums
    empty_sets: EmptySets
    mass: ExactSums

    @property
    def n_cases(self) -> int:
        return self.labels.n_cases

    @property
    def n_labels(self) -> int:
        return self.examples.n_labels

    def __add__(self, other: SetTally) -> SetTally:
        return SetTally(
            self.labels + other.labels,
            self.examples + other.examples,
            self.empty_sets + other.empty_sets,
            self.mass + other.mass,
        )

    def matrix(self) -> MultilabelMatrix:
        """The matrix of Krstinic et al. over the cases with two non-empty sets."""
        empty = self.empty_sets
        n_left_out = empty.n_true_empty + empty.n_pred_empty - empty.both_empty
        return multilabel_matrix(
            self.mass, n_labels=self.n_labels, n_cases=self.n_cases - n_left_out
        )


def tally_sets(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> SetTally:
    """Count two (n, q) indicator arrays, True where the label belongs to the set."""
    patterns = distinct_patterns(actual, predicted)
    has_both = has_labels(patterns.actual) & has_labels(patterns.predicted)
    return SetTally(
        labels=count_labels(actual, predicted),
        examples=sum_over_examples(patterns),
        empty_sets=count_empty_sets(actual, predicted),
        mass=spread_mass(patterns.where(has_both)),
    )
