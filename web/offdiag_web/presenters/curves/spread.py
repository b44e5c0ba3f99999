"""How the scores of two kinds of cases are spread, drawn and as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.metrics.scores.score_curves import ScoreHistogram
from offdiag_web.charts.plot import QUARTERS, Tick
from offdiag_web.charts.scores import Spread, Tone, spread_drawing
from offdiag_web.presenters import numbers


@dataclass(frozen=True, slots=True)
class SpreadLine:
    """One bin of the table."""

    scores: str
    positive: str
    negative: str


@dataclass(frozen=True, slots=True)
class SpreadView:
    """The picture of both histograms with the table of the same bins."""

    drawing: Markup
    positive_name: str
    negative_name: str
    lines: tuple[SpreadLine, ...]


def spread_view(
    histogram: ScoreHistogram,
    *,
    names: tuple[str, str],
    score_name: str,
    name: str,
    threshold: tuple[float, str] | None = None,
    tones: tuple[Tone, Tone] = ("plain", "plain"),
) -> SpreadView:
    """Present the scores of positive and negative cases, which are called `names`.

    `threshold` is a score, with what is said beside it.
    """
    positive, negative = names
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    place = None
    if threshold is not None:
        place = ((threshold[0] - low) / (high - low), threshold[1])
    return SpreadView(
        drawing=spread_drawing(
            _spread(positive, histogram.positive),
            _spread(negative, histogram.negative),
            ticks=_ticks(low, high),
            score_name=score_name,
            name=name,
            threshold=place,
            tones=tones,
        ),
        positive_name=positive,
        negative_name=negative,
        lines=tuple(
            SpreadLine(
                f"{_edge(histogram.edges[at])} \N{EN DASH} {_edge(histogram.edges[at + 1])}",
                numbers.count(int(histogram.positive[at])),
                numbers.count(int(histogram.negative[at])),
            )
            for at in range(len(histogram.positive))
        ),
    )


def _spread(name: str, counts: NDArray[np.int64]) -> Spread:
    total = int(counts.sum())
    text = f"{numbers.shortened(name, longest=30)}, {numbers.plural(total, 'case')}"
    return Spread(text, tuple((counts / max(total, 1)).tolist()))


def _ticks(low: float, high: float) -> tuple[Tick, ...]:
    """The quarters of probabilities; of other scores both ends, which are scores that occur."""
    if (low, high) == (0.0, 1.0):
        return QUARTERS
    return ((_edge(low), 0.0), (_edge(high), 1.0))


def _edge(value: float) -> str:
    """A score with as many digits as tell it apart, with a typographic minus."""
    return f"{float(value):.6g}".replace("-", numbers.MINUS)
