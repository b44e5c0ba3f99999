"""Plots of scores: ROC, precision-recall and cost curves, and the reliability diagram."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from offdiag.domain.number_text import interval, number
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.scores.calibration import DEFAULT_BINS
from offdiag.metrics.scores.curves import Curve, thin
from offdiag.plot.axes import (
    ERROR,
    INK,
    LINE,
    PAGE,
    QUIET_INK,
    REFERENCE,
    RULE,
    axes_or_new,
    plain_legend,
    title,
    undefined_text,
    unit_square,
)
from offdiag.sdk.evaluations.scores import ScoreEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = (LINE, ERROR[9], INK, "#7a5195")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
"""Lines differ in dash as well as colour, for readers who do not see colours."""
MOST_LINES = 8
"""Lines that can be distinguished; if there are more classes, the worst are drawn."""
MOST_POINTS = 2_000
"""Points of a line; a longer curve is thinned for drawing, and the title says so."""
FEW_SAMPLES = 10
"""Bins with fewer samples are drawn hollow: their share is mostly chance."""
HIGHEST_BAR = 0.16
"""Height of the highest bar of sample counts on the axis of shares."""


def roc(evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None) -> Axes:
    """Draw the ROC curve: true against false positive rate at all thresholds. Returns the axes.

    * `evaluation`: what `evaluate_scores` returned.
    * `label`: the class that is drawn against the rest. Default: the positive class; if there is
      none, all classes, or the 8 with the smallest areas.
    * `ax`: the axes to draw into. Default: a new figure.

    The legend has the areas; for a class without a curve, it says undefined and why.

    Raises `UnknownKey` or `InvalidInput` for an unknown label, and `MissingExtra` without
    matplotlib.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    labels = _labels(evaluation, label, key="roc_auc")
    ax.plot([0, 1], [0, 1], label="no skill", **REFERENCE)
    values = {
        name: f"area {_value_text(evaluation.per_class['roc_auc'][name])}" for name in labels
    }
    _draw(ax, "ROC curve", evaluation, labels, curve_of=evaluation.roc_curve, values=values)
    ax.set_xlabel("False positive rate (share of the other classes reported)")
    ax.set_ylabel("True positive rate (share of the class found)")
    return ax


def precision_recall(
    evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None
) -> Axes:
    """Draw precision against recall at all thresholds, in the steps that average precision sums.

    Arguments, classes, legend and errors are those of `roc`. Dotted lines are the shares of the
    classes, which are the precision of scores without skill.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    labels = _labels(evaluation, label, key="average_precision")
    text: str | None = "no skill: share of the class"
    for colour, name in zip(LINES * 2, labels, strict=False):
        share = float((evaluation.forecasts.actual == evaluation.label_set.code_of(name)).mean())
        if share > 0:
            ax.axhline(share, **{**REFERENCE, "color": colour}, label=text)
        text = None
    found = evaluation.per_class["average_precision"]
    values = {name: f"average precision {_value_text(found[name])}" for name in labels}
    _draw(
        ax,
        "Precision-recall curve",
        evaluation,
        labels,
        curve_of=evaluation.precision_recall_curve,
        values=values,
        style="steps-pre",
    )
    ax.set_xlabel("Recall (share of the class found)")
    ax.set_ylabel("Precision (share of the reports that are right)")
    return ax


def cost_curve(
    evaluation: ScoreEvaluation, *, label: object = None, ax: Axes | None = None
) -> Axes:
    """Draw the expected cost of the best threshold for every combination of costs and shares.

    Arguments, classes, legend and errors are those of `roc`. The dotted line is the better
    constant prediction.
    """
    ax = axes_or_new(ax, width=6.0, height=4.6)
    labels = _labels(evaluation, label, key="roc_auc")
    ax.plot([0, 0.5, 1], [0, 0.5, 0], label="better constant prediction", **REFERENCE)
    _draw(ax, "Cost curve", evaluation, labels, curve_of=evaluation.cost_curve, values={})
    ax.set(aspect="auto", ylim=(-0.01, 0.52), yticks=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    ax.set_xlabel("Probability cost (share of the worst cost that missed examples cause)")
    ax.set_ylabel("Normalized expected cost")
    return ax


def reliability(
    evaluation: ScoreEvaluation,
    *,
    label: object = None,
    n_bins: int = DEFAULT_BINS,
    ax: Axes | None = None,
) -> Axes:
    """Draw a reliability diagram: observed share against mean probability, in bins of equal width.

    * `evaluation`: what `evaluate_scores` returned.
    * `label`: the class. Default: the positive class; if there is none, the most probable class of
      each sample.
    * `n_bins`: the number of bins. Default: 15.
    * `ax`: the axes to draw into. Default: a new figure.

    Whiskers are 95 % Wilson intervals, hollow points are bins with fewer than 10 samples, and
    the bars below show how many samples a bin has. The points of a perfectly calibrated model are
    inside the shaded boxes in 9 of 10 samples. If scores are not probabilities, the plot says
    undefined and why.

    Raises `UnknownKey` or `InvalidInput` for an unknown label, and `MissingExtra` without
    matplotlib.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    label = evaluation.positive_label if label is None else label
    if label is None:
        curve = evaluation.top_label_reliability_curve(n_bins=n_bins)
        of_what = "the most probable class"
        ax.set_xlabel("Mean probability of the most probable class")
        ax.set_ylabel("Share of examples where it is the actual class")
    else:
        name = evaluation.labels[evaluation.label_set.code_of(label)]
        curve = evaluation.reliability_curve(name, n_bins=n_bins)
        of_what = shortened(name)
        ax.set_xlabel("Mean predicted probability")
        ax.set_ylabel("Observed share")
    unit_square(ax)
    n_samples = f"{evaluation.forecasts.n_samples:,} examples"
    title(ax, f"Reliability of {of_what}, {n_samples}, {n_bins} bins of equal width")
    if curve.reason is not None:
        ax.text(0.5, 0.5, undefined_text(curve.reason), ha="center", color=QUIET_INK)
        return ax
    ax.plot([0, 1], [0, 1], label="calibrated", **REFERENCE)
    _bins(ax, curve)
    plain_legend(ax)
    return ax


def _bins(ax: Axes, curve: Curve) -> None:
    """Draw the samples of each bin, the range of a calibrated model, and the model's point."""
    columns = curve.columns
    low, width = columns["bin_low"], np.diff(columns["bin_low"], append=1.0)
    highest = int(columns["count"].max())
    heights = HIGHEST_BAR * columns["count"] / max(highest, 1)
    text = f"examples of a bin, {highest:,} in the highest bar"
    bars = {"align": "edge", "color": RULE, "edgecolor": PAGE}
    ax.bar(low, heights, width=width, zorder=0, label=text, **bars)  # type: ignore[arg-type]

    used = np.flatnonzero(columns["count"])
    n, x, y = (columns[key][used] for key in ("count", "mean_score", "observed_share"))
    bottom, top = (columns[key][used] for key in ("calibrated_low", "calibrated_high"))
    band = {"align": "edge", "color": QUIET_INK, "alpha": 0.18, "linewidth": 0, "zorder": 0.5}
    text = "a calibrated model, 9 times in 10"
    ax.bar(low[used], top - bottom, width=width[used], bottom=bottom, label=text, **band)  # type: ignore[arg-type]

    bounds = wilson(np.rint(y * n).astype(np.int64), n)
    ends = np.stack([y - bounds.low, bounds.high - y]).clip(min=0)
    ax.plot(x, y, color=LINE, linewidth=1.2)
    ax.errorbar(x, y, yerr=ends, fmt="none", ecolor=LINE, elinewidth=1.0)
    for chosen, face, text in (
        (n >= FEW_SAMPLES, LINE, "bin with its 95 % interval"),
        (n < FEW_SAMPLES, PAGE, f"bin of fewer than {FEW_SAMPLES} examples"),
    ):
        if chosen.any():
            points = {"markersize": 5, "markerfacecolor": face, "markeredgecolor": LINE}
            ax.plot(x[chosen], y[chosen], "o", label=text, **points)  # type: ignore[arg-type]


def _labels(evaluation: ScoreEvaluation, label: object, *, key: str) -> list[str]:
    """The classes to draw: the given one, the positive one, or all, the worst first."""
    if label is not None:
        return [evaluation.labels[evaluation.label_set.code_of(label)]]
    if evaluation.positive_label is not None:
        return [evaluation.positive_label]
    values = evaluation.per_class[key]
    defined = [name for name in evaluation.labels if values[name].value is not None]
    defined.sort(key=lambda name: values[name].value or 0)
    return defined + [name for name in evaluation.labels if values[name].value is None]


def _draw(
    ax: Axes,
    what: str,
    evaluation: ScoreEvaluation,
    labels: list[str],
    *,
    curve_of: Callable[[object], Curve],
    values: dict[str, str],
    style: str = "default",
) -> None:
    """Draw the curves of up to `MOST_LINES` classes; the title says what is left out."""
    of_whom = f" of {shortened(labels[0])}" if len(labels) == 1 else ", each class"
    notes = [f"{what}{of_whom} against the rest, {evaluation.forecasts.n_samples:,} examples"]
    if len(labels) > MOST_LINES:
        notes.append(f"the {MOST_LINES} of {len(labels)} classes with the lowest values")
    thinned_from = 0
    for place, label in enumerate(labels[:MOST_LINES]):
        curve = curve_of(label)
        text = values.get(label) if curve.reason is None else undefined_text(curve.reason)
        drawn = thin(curve, max_points=MOST_POINTS)
        thinned_from = max(thinned_from, drawn.thinned_from or 0)
        ax.plot(
            drawn.columns[curve.x],
            drawn.columns[curve.y],
            label=f"{shortened(label)}: {text}" if text else shortened(label),
            color=LINES[place % len(LINES)],
            linestyle=DASHES[(place + place // len(LINES)) % len(DASHES)],
            linewidth=1.6,
            drawstyle=style,
        )
    if thinned_from:
        notes.append(f"thinned for drawing from {thinned_from:,} points")
    unit_square(ax)
    title(ax, *notes)
    plain_legend(ax)


def _value_text(value: MetricValue) -> str:
    """Three decimals with the interval, or "undefined" with the reason."""
    if value.value is None:
        return undefined_text(value.reason)
    if value.ci_low is None or value.ci_high is None:
        return number(value.value)
    return f"{number(value.value)} ({interval(value.ci_low, value.ci_high)})"
