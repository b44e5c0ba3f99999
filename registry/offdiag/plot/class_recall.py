"""Recall of every class with its interval: which classes fail, and which have too few cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.plot.axes import (
    LINES,
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
    codes = _chosen(values)
    support = [value.value or 0 for value in evaluation.per_class["support"].values()]
    codes.sort(key=lambda code: -support[code])
    ax = axes_or_new(ax, width=6.4, height=1.6 + 0.27 * len(codes))

    for place, code in enumerate(codes):
        _draw(ax, place, values[code])
    names = [
        f"{shortened(evaluation.labels[code])} ({number_text(support[code])})" for code in codes
    ]
    ax.set_yticks(range(len(codes)), names, parse_math=False)
    ax.set_ylim(len(codes) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks(QUARTERS)
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("Recall (share of the actual cases found)")
    is_weighted = isinstance(evaluation, WeightedEvaluation)
    ax.set_ylabel(f"Actual class ({'weight' if is_weighted else 'cases'})")
    notes = []
    if len(codes) < len(values):
        notes.append(f"the {len(codes)} of {len(values)} classes with the lowest recall")
    title(ax, f"Recall by class, {intervals}", *notes)
    return ax


def _draw(ax: Axes, place: int, value: MetricValue) -> None:
    if value.value is None:
        ax.text(
            0.01,
            place,
            undefined_text(value.reason),
            va="center",
            fontsize="small",
            color=QUIET_INK,
        )
        return
    if value.ci_low is not None and value.ci_high is not None:
        ax.plot([value.ci_low, value.ci_high], [place, place], color=LINES[0], linewidth=1.6)
    ax.plot([value.value], [place], linestyle="none", marker="o", markersize=5, color=LINES[0])


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
    found = []
    for code, value in enumerate(values):
        low, high = bounds.at(code)
        found.append(Interval(low, high, WILSON).around(value))
    return found, "with 95 % Wilson intervals"


def _chosen(values: list[MetricValue]) -> list[int]:
    """Codes of the classes to draw; undefined recalls are the last to be chosen."""
    codes = sorted(
        range(len(values)),
        key=lambda code: np.inf if values[code].value is None else float(values[code].value or 0),
    )
    return sorted(codes[:MOST_CLASSES])
