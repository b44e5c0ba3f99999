"""ROC, precision-recall and cost curves of scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from offdiag.metrics.scores.curves import Curve, thin
from offdiag.plot.axes import (
    DASHES,
    LINES,
    QUIET_INK,
    axes_or_new,
    plain_legend,
    shortened,
    title,
    undefined_text,
    unit_square,
    value_text,
)
from offdiag.sdk.evaluations.scores import ScoreEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
"""Lines that can be told apart; of more classes the worst are drawn."""
MOST_POINTS = 2_000
"""Points of a line; a longer curve is thinned for drawing, and the title says so."""


def roc(evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None) -> Axes:
    """Draw the true over the false positive rate at all thresholds.

    Of one class against the rest: `label`, or the positive class. Where there is neither, all
    classes are drawn, or the 8 with the smallest areas. The legend has the areas, and the
    word undefined with the reason for classes without a curve.

    Raises `UnknownKey` or `InvalidInput` for a label that does not exist, and
    `ModuleNotFoundError` without matplotlib.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    labels = _labels(evaluation, label, key="roc_auc")
    ax.plot([0, 1], [0, 1], color=QUIET_INK, linewidth=0.8, linestyle=":", label="no skill")
    notes = _draw(ax, evaluation, labels, evaluation.roc_curve, key="roc_auc", name="area")
    _finish(ax, _heading("ROC curve", evaluation, labels), notes)
    ax.set_xlabel("False positive rate (share of the other classes reported)")
    ax.set_ylabel("True positive rate (share of the class found)")
    return ax


def precision_recall(
    evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None
) -> Axes:
    """Draw precision over recall at all thresholds, in steps as average precision adds them up.

    Classes, legend and errors as for `roc`. Dotted lines are the shares of the classes, which
    scores without skill have as precision.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    key = "average_precision"
    labels = _labels(evaluation, label, key=key)
    for place, name in enumerate(labels[:MOST_LINES]):
        share = float((evaluation.forecasts.actual == evaluation.label_set.code_of(name)).mean())
        if share > 0:
            ax.axhline(
                share,
                color=LINES[place % len(LINES)],
                linewidth=0.8,
                linestyle=":",
                label="no skill: share of the class" if place == 0 else None,
            )
    curve_of = evaluation.precision_recall_curve
    notes = _draw(ax, evaluation, labels, curve_of, key=key, name="average precision")
    _finish(ax, _heading("Precision-recall curve", evaluation, labels), notes)
    ax.set_xlabel("Recall (share of the class found)")
    ax.set_ylabel("Precision (share of the reports that are right)")
    return ax


def cost_curve(
    evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None
) -> Axes:
    """Draw the expected cost of the best threshold for every combination of costs and shares.

    Classes, legend and errors as for `roc`; the dotted line is the better constant answer.
    """
    ax = axes_or_new(ax, width=6.0, height=4.6)
    labels = _labels(evaluation, label, key="roc_auc")
    ax.plot(
        [0, 0.5, 1],
        [0, 0.5, 0],
        color=QUIET_INK,
        linewidth=0.8,
        linestyle=":",
        label="better constant answer",
    )
    notes = _draw(ax, evaluation, labels, evaluation.cost_curve, key=None, name="")
    _finish(ax, _heading("Cost curve", evaluation, labels), notes)
    ax.set_aspect("auto")
    ax.set_ylim(-0.01, 0.52)
    ax.set_yticks([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    ax.set_xlabel("Probability cost (share of the worst cost that missed cases cause)")
    ax.set_ylabel("Normalized expected cost")
    return ax


def _labels(evaluation: ScoreEvaluation, label: object, *, key: str) -> list[str]:
    """The classes to draw: the one asked for, the positive one, or all, the worst first."""
    if label is not None:
        return [evaluation.labels[evaluation.label_set.code_of(label)]]
    if evaluation.positive_label is not None:
        return [evaluation.positive_label]
    values = evaluation.per_class[key]

    def rank(name: str) -> float:
        value = values[name].value
        return np.inf if value is None else value

    return sorted(evaluation.labels, key=rank)


def _heading(what: str, evaluation: ScoreEvaluation, labels: list[str]) -> str:
    n_cases = f"{evaluation.forecasts.n_cases:,} cases"
    if len(labels) == 1:
        return f"{what} of {shortened(labels[0])} against the rest, {n_cases}"
    return f"{what}, each class against the rest, {n_cases}"


def _draw(
    ax: Axes,
    evaluation: ScoreEvaluation,
    labels: list[str],
    curve_of: Callable[[object], Curve],
    *,
    key: str | None,
    name: str,
) -> list[str]:
    """Draw the curves of up to `MOST_LINES` classes; returns what the title has to say."""
    thinned_from = []
    for place, label in enumerate(labels[:MOST_LINES]):
        curve = curve_of(label)
        text = shortened(label)
        if curve.reason is not None:
            text += f": {undefined_text(curve.reason)}"
        elif key is not None:
            text += f": {name} {value_text(evaluation.per_class[key][label])}"
        drawn = thin(curve, max_points=MOST_POINTS)
        if drawn.thinned_from is not None:
            thinned_from.append(drawn.thinned_from)
        style: dict[str, Any] = {
            "color": LINES[place % len(LINES)],
            "linestyle": DASHES[(place + place // len(LINES)) % len(DASHES)],
            "linewidth": 1.6,
            "drawstyle": "steps-pre" if key == "average_precision" else "default",
        }
        ax.plot(drawn.columns[curve.x], drawn.columns[curve.y], label=text, **style)
    notes = []
    if len(labels) > MOST_LINES:
        notes.append(f"the {MOST_LINES} of {len(labels)} classes with the lowest values")
    if thinned_from:
        notes.append(f"thinned for drawing from {max(thinned_from):,} points")
    return notes


def _finish(ax: Axes, heading: str, notes: list[str]) -> None:
    unit_square(ax)
    title(ax, heading, *notes)
    plain_legend(ax)
