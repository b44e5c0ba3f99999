"""The reliability diagram: does a probability of 0.8 mean 8 times in 10?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.scores.calibration import DEFAULT_BINS
from offdiag.plot.axes import (
    LINES,
    PAGE,
    QUIET_INK,
    RULE,
    axes_or_new,
    plain_legend,
    shortened,
    title,
    undefined_text,
    unit_square,
)
from offdiag.sdk.evaluations.scores import ScoreEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_CASES = 10
"""Bins with fewer cases are drawn hollow: their share is mostly chance."""
HIGHEST_BAR = 0.16
"""Height of the highest bar of case numbers on the axis of shares."""


def reliability(
    evaluation: ScoreEvaluation,
    *,
    label: object = None,
    n_bins: int = DEFAULT_BINS,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed share over the mean probability in bins of equal width.

    Of the class `label`, or of the positive class; where there is neither, of the most
    probable class of each case. Whiskers are Wilson's 95 % interval, hollow points bins of
    fewer than 10 cases, and the bars below how many cases a bin has. In the shaded boxes the
    points of a perfectly calibrated model lie in 9 of 10 samples. Scores that are no
    probabilities give the word undefined with the reason.

    Raises `UnknownKey` or `InvalidInput` for a label that does not exist, and
    `ModuleNotFoundError` without matplotlib.
    """
    ax = axes_or_new(ax, width=5.2, height=5.2)
    if label is None:
        label = evaluation.positive_label
    if label is None:
        curve = evaluation.top_label_reliability_curve(n_bins=n_bins)
        of_what = "the most probable class"
        ax.set_xlabel("Mean probability of the most probable class")
        ax.set_ylabel("Share of cases where it is the actual class")
    else:
        name = evaluation.labels[evaluation.label_set.code_of(label)]
        curve = evaluation.reliability_curve(name, n_bins=n_bins)
        of_what = shortened(name)
        ax.set_xlabel("Mean predicted probability")
        ax.set_ylabel("Observed share")
    unit_square(ax)
    n_cases = f"{evaluation.forecasts.n_cases:,} cases"
    title(ax, f"Reliability of {of_what}, {n_cases}, {n_bins} bins of equal width")
    if curve.reason is not None:
        ax.text(0.5, 0.5, undefined_text(curve.reason), ha="center", color=QUIET_INK)
        return ax
    ax.plot([0, 1], [0, 1], color=QUIET_INK, linewidth=0.8, linestyle=":", label="calibrated")

    count = curve.columns["count"]
    low, width = curve.columns["bin_low"], np.diff(curve.columns["bin_low"], append=1.0)
    ax.bar(
        low,
        HIGHEST_BAR * count / max(int(count.max()), 1),
        width=width,
        align="edge",
        color=RULE,
        edgecolor=PAGE,
        zorder=0,
        label=f"cases of a bin, {int(count.max()):,} in the highest bar",
    )
    used = np.flatnonzero(count)
    band_low, band_high = curve.columns["calibrated_low"], curve.columns["calibrated_high"]
    ax.bar(
        low[used],
        (band_high - band_low)[used],
        width=width[used],
        bottom=band_low[used],
        align="edge",
        color=QUIET_INK,
        alpha=0.18,
        linewidth=0,
        zorder=0.5,
        label="a calibrated model, 9 times in 10",
    )
    _points(ax, curve.columns["mean_score"], curve.columns["observed_share"], count)
    plain_legend(ax)
    return ax


def _points(
    ax: Axes,
    mean_score: np.ndarray[tuple[int], np.dtype[np.float64]],
    observed: np.ndarray[tuple[int], np.dtype[np.float64]],
    count: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> None:
    used = np.flatnonzero(count)
    x, y, n = mean_score[used], observed[used], count[used]
    bounds = wilson(np.rint(y * n).astype(np.int64), n)
    ends = np.stack([y - bounds.low, bounds.high - y]).clip(min=0)
    ax.plot(x, y, color=LINES[0], linewidth=1.2)
    ax.errorbar(x, y, yerr=ends, fmt="none", ecolor=LINES[0], elinewidth=1.0)
    for is_few, face, text in (
        (False, LINES[0], "bin with its 95 % interval"),
        (True, PAGE, f"bin of fewer than {FEW_CASES} cases"),
    ):
        chosen = (n < FEW_CASES) == is_few
        if chosen.any():
            ax.plot(
                x[chosen],
                y[chosen],
                linestyle="none",
                marker="o",
                markersize=5,
                markerfacecolor=face,
                markeredgecolor=LINES[0],
                label=text,
            )
