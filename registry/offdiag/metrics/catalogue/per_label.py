"""Per-label entries of multi-label data: each label is a class against the rest.

The definitions are those of the per-class metrics, on the label's own two-by-two table, plus
the ranking of its cases where there are scores.
"""

from __future__ import annotations

from dataclasses import replace

from offdiag.metrics.catalogue import (
    class_counts,
    class_rates,
    class_ratios,
    class_scores,
    probabilistic,
)
from offdiag.metrics.spec import MetricSpec, Scope

_WITH_SCORES = ("roc_auc", "average_precision")

SPECS: tuple[MetricSpec, ...] = tuple(
    # The transformations of a single-label matrix do not apply to a table of one label.
    replace(spec, scope=Scope.PER_LABEL, symmetry=None)
    for spec in (
        *class_counts.SPECS,
        *class_rates.SPECS,
        *class_scores.SPECS,
        *class_ratios.SPECS,
        *(spec for spec in probabilistic.SPECS if spec.key in _WITH_SCORES),
    )
)
