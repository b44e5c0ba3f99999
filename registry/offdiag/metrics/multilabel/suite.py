"""All metrics of sets of labels at once, from their counts and from scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics import per_class
from offdiag.metrics.custom import set_specs
from offdiag.metrics.multilabel import examples, ranking
from offdiag.metrics.multilabel import label_averages as averages
from offdiag.metrics.multilabel.examples import example_metrics, label_numbers
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.ranking import ranking_metrics, sum_over_rankings
from offdiag.metrics.multilabel.tally import LabelCounts, SetTally
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.scores import discrimination
from offdiag.metrics.scores.discrimination import average_precision, roc_auc
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.spec import OF_CLASS, MetricSpec, Scope

SCORE_KEYS = ("roc_auc", "average_precision")
"""Metrics that scores add to those of a label."""


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """True and predicted sets of n samples, bool (n, q), and (n, q) scores if there are any."""

    actual: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    scores: NDArray[Any] | None = None

    @property
    def n_samples(self) -> int:
        return len(self.actual)


def set_metrics(tally: SetTally) -> Mapping[str, MetricValue]:
    """Averages over samples and over labels, and numbers of labels, by key."""
    n_true_labels = int(np.asarray(tally.labels.actual).sum())
    return {
        **example_metrics(tally.examples),
        **label_averages(tally.labels),
        **label_numbers(tally.examples, n_true_labels),
    }


def label_metrics(counts: LabelCounts) -> Mapping[str, list[MetricValue]]:
    """The metrics of each label's two-by-two table, q values in label order by key."""
    cells = counts.one_vs_rest()
    values = {key: metric.compute(cells) for key, metric in PER_CLASS.items()}
    n_labels = len(counts.actual)
    return {
        key: [quantity.at(code) for code in range(n_labels)] for key, quantity in values.items()
    }


def set_score_metrics(
    actual: NDArray[np.bool_], scores: NDArray[Any]
) -> Mapping[str, MetricValue]:
    """How well (n, q) scores rank the labels of a sample, by key."""
    return ranking_metrics(sum_over_rankings(actual, scores))


def label_score_metrics(
    actual: NDArray[np.bool_], scores: NDArray[Any]
) -> Mapping[str, list[MetricValue]]:
    """How well (n, q) scores rank the samples of a label, q values in label order by key."""
    ranked = [rank_scores(actual[:, code], scores[:, code]) for code in range(scores.shape[1])]
    found = ([roc_auc(label) for label in ranked], [average_precision(label) for label in ranked])
    return dict(zip(SCORE_KEYS, found, strict=True))


# Each label is a class against the rest: the definitions are those of the per-class metrics, on
# the label's own two-by-two table, plus the ranking of its samples if there are scores. The
# transformations of a single-label matrix do not apply to a table of one label.
_OF_LABELS: tuple[MetricSpec, ...] = tuple(
    replace(
        spec,
        scope=Scope.PER_LABEL,
        symmetry=None,
        # No interval of a single label is drawn.
        interval="None." if spec.interval == OF_CLASS else spec.interval,
    )
    for spec in (
        *per_class.SPECS,
        *(spec for spec in discrimination.SPECS if spec.key in SCORE_KEYS),
    )
)
SPECS: tuple[MetricSpec, ...] = (
    *examples.SPECS,
    *averages.SPECS,
    *ranking.SPECS,
    *set_specs(),
    *_OF_LABELS,
)

OF_SETS: Mapping[str, MetricSpec] = {
    spec.key: spec for spec in (*examples.SPECS, *averages.SPECS, *ranking.SPECS, *set_specs())
}
"""Metrics of a whole multi-label evaluation by key."""
