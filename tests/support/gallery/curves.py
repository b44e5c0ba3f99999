"""Charts of scores in each of their states."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.metrics.scores.operating_points import OperatingPoints, operating_points
from offdiag.metrics.scores.ranking import rank_scores
from offdiag_web.charts.curves import Spread, precision_recall_drawing, roc_drawing, spread_drawing
from offdiag_web.charts.plot import QUARTERS
from offdiag_web.charts.reliability import ReliabilityBin, reliability_drawing


def score_charts() -> tuple[tuple[str, Markup], ...]:
    """Curves from perfect to worse than chance, large and small, and what goes with them."""
    rare = _points(share=0.04, gain=0.5)
    return (
        ("ROC, in use", roc_drawing(rare, name="ROC of a rare class", in_use=(0.05, 0.6))),
        (
            "precision and recall, in use",
            precision_recall_drawing(rare, name="of a rare class", in_use=(0.6, 0.4)),
        ),
        (
            "at another prevalence",
            precision_recall_drawing(rare, name="where half are positive", prevalence=0.5),
        ),
        ("perfect", roc_drawing(_points(share=0.5, gain=2.0), name="perfect")),
        ("worse than chance", roc_drawing(_points(share=0.5, gain=-0.5), name="worse")),
        ("few different scores", roc_drawing(_points(share=0.5, gain=0.5, levels=4), name="ties")),
        ("small", roc_drawing(rare, name="small", in_use=(0.05, 0.6), is_small=True)),
        ("reliability, bins left out", _reliability()),
        ("spread, plain", _spread("plain")),
        ("spread, right and wrong", _spread("right")),
    )


def _points(*, share: float, gain: float, levels: int = 1_000) -> OperatingPoints:
    generator = np.random.default_rng(0)
    is_positive: NDArray[np.bool_] = generator.random(2_000) < share
    scores = np.floor((generator.random(2_000) + gain * is_positive) * levels) / levels
    return operating_points(rank_scores(is_positive, scores))


def _reliability() -> Markup:
    bins = [ReliabilityBin(0.0, 0.2, 900, 0.1, 0.15, 0.13, 0.17), ReliabilityBin(0.2, 0.4, 4)]
    bins += [ReliabilityBin(0.4, 0.6, 0), ReliabilityBin(0.6, 1.0, 120, 0.8, 0.6, 0.51, 0.68)]
    return reliability_drawing(bins, score_name="score", share_name="share", name="reliability")


def _spread(kind: str) -> Markup:
    edges = tuple(edge / 20 for edge in range(21))
    falling = tuple(2 * (20 - place) / 420 for place in range(20))
    return spread_drawing(
        Spread("some cases", falling[::-1], edges),
        Spread("no cases", (0.0,) * 20, edges)
        if kind == "plain"
        else Spread("others", falling, edges),
        ticks=QUARTERS,
        score_name="score",
        name=f"spread, {kind}",
        threshold=(0.4, "in use from here") if kind == "plain" else None,
        tones=("plain", "plain") if kind == "plain" else ("correct", "error"),
    )
