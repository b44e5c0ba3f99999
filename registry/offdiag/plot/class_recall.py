"""Recall of every class with its interval: which classes fail, and which have too few cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.plot.axes import (
    LINE,
    QUARTERS,
    QUIET_INK,
    RULE,
    axes_or_new,
    shortened,
    title,
    undefined_text,
)
from offdiag.plot.confusion_matrix import number_text
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.sdk.evaluations.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES = 60
"""Classes that one picture lists; of more, those with the lowest recall."""


def class_recall(evaluation: Evaluation | WeightedEvaluation, *, ax: Axes | None = None) -> Axes:
    """Draw a dot and an interval for each class, the largest class on top.

    Intervals are those of the evaluation, or Wilson's 95 % intervals of its counts; sums of
    weights have none of their own. A class without cases has the word undefined. Of more
    than 60 classes those with the lowest recall are drawn, and the title says so.

    Raises `ModuleNotFoundError` without matplotlib.
    """
    values, intervals = _with_intervals(evaluation)
    heading = [f"Recall by class, {intervals}"]
    codes = sorted(range(len(values)), key=lambda code: _rank(values[code]))[:MOST_CLASSES]
    if len(codes) < len(values):
        heading.append(f"the {len(codes)} of {len(values)} classes with the lowest recall")
    support = [value.value or 0 for value in evaluation.per_class["support"].values()]
    codes.sort(key=lambda code: (-support[code], code))

    ax = axes_or_new(ax, width=6.4, height=1.6 + 0.27 * len(codes))
    for place, value in enumerate(values[code] for code in codes):
        if value.value is None:
            text = undefined_text(value.reason)
            ax.text(0.01, place, text, va="center", fontsize="small", color=QUIET_INK)
            continue
        if value.ci_low is not None and value.ci_high is not None:
            ax.plot([value.ci_low, value.ci_high], [place, place], color=LINE, linewidth=1.6)
        ax.plot([value.value], [place], linestyle="none", marker="o", markersize=5, color=LINE)
    names = [
        f"{shortened(evaluation.labels[code])} ({number_text(support[code])})" for code in codes
    ]
    ax.set_yticks(range(len(codes)), names, parse_math=False)
    ax.set(xlim=(-0.02, 1.02), xticks=QUARTERS, ylim=(len(codes) - 0.5, -0.5))
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("Recall (share of the examples found)")
    unit = "weight" if isinstance(evaluation, WeightedEvaluation) else "examples"
    ax.set_ylabel(f"Actual class ({unit})")
    title(ax, *heading)
    return ax


def _rank(value: MetricValue) -> float:
    """Undefined recalls are the last to be chosen."""
    return np.inf if value.value is None else value.value


def _with_intervals(
    evaluation: Evaluation | WeightedEvaluation,
) -> tuple[list[MetricValue], str]:
    """The recall of each class, and what the title says about its intervals."""
    values = list(evaluation.per_class["recall"].values())
    if any(value.ci_method for value in values):
        return values, "with the intervals of the evaluation"
    if isinstance(evaluation, WeightedEvaluation):
        return values, "without intervals"
    matrix = evaluation.matrix
    bounds = wilson(np.diagonal(matrix.counts), matrix.actual)
    return [
        Interval(*bounds.at(code), WILSON).around(value) for code, value in enumerate(values)
    ], "with 95 % Wilson intervals"
