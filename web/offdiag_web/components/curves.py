"""What pages of one class and of many classes share: tiles, calibration, score histograms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets, unweighted
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.scores.calibration import CalibrationBins, calibrated_shares
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TIDY_THRESHOLDS, ScoreHistogram
from offdiag.store.run_page import RunResults
from offdiag_web.charts.curves import Spread, Tone, spread_drawing
from offdiag_web.charts.plot import QUARTERS, Tick
from offdiag_web.charts.reliability import ReliabilityBin, reliability_drawing
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.tiles import Tile, metric_tile

NO_SKILL = "no skill"
_BINS = 15
_RANKINGS = (
    (
        "label_ranking_average_precision",
        "Ranking average precision",
        ", of an example’s labels",
    ),
    ("label_ranking_loss", "Ranking loss", ", less is better"),
    ("coverage_error", "Coverage error", ", labels down to the last true one"),
)


def class_tiles(results: RunResults, code: int, notes: Notes, *, is_whole: bool) -> list[Tile]:
    """Areas under the curves of a class; with `is_whole` also metrics of all probabilities."""
    counted = unweighted(results.counted)
    share = int(counted.actual[code]) / max(counted.total, 1)
    tiles = [
        _area("ROC AUC", _of_class(results, "roc_auc", code), notes, no_skill=0.5),
        _area(
            "Average precision",
            _of_class(results, "average_precision", code),
            notes,
            no_skill=share,
        ),
    ]
    if is_whole:
        tiles += _probability_tiles(
            results.aggregate, notes, brier="brier_half", ece=f"ece_positive_{_BINS}"
        )
    return tiles


def overview_tiles(results: RunResults, notes: Notes) -> list[Tile]:
    """Metrics of all classes together; for sets, how well scores rank their labels."""
    values = results.aggregate
    if isinstance(results.counted, CountedSets):
        return [
            _unbounded(metric_tile(title, values.get(key), notes, detail=detail))
            for key, title, detail in _RANKINGS
        ]
    tiles = [
        _area(
            "ROC AUC",
            values.get("roc_auc_ovr_macro"),
            notes,
            no_skill=0.5,
            detail=", one vs rest, macro",
        ),
        _area(
            "ROC AUC",
            values.get("roc_auc_ovo_macro"),
            notes,
            no_skill=0.5,
            detail=", pairs of classes",
        ),
    ]
    return tiles + _probability_tiles(
        values, notes, brier="brier_sum", ece=f"ece_top_label_{_BINS}"
    )


def _of_class(results: RunResults, key: str, code: int) -> MetricValue | None:
    values = results.per_class.get(key)
    return None if values is None else values[code]


def _probability_tiles(
    values: Mapping[str, MetricValue], notes: Notes, *, brier: str, ece: str
) -> list[Tile]:
    kind = ", sum over classes" if brier == "brier_sum" else ""
    flavour = "top label" if "top_label" in ece else "positive class"
    return [
        _unbounded(metric_tile("Brier score", values.get(brier), notes, detail=kind or None)),
        _unbounded(metric_tile("Log loss", values.get("log_loss"), notes)),
        replace(
            metric_tile(
                "Calibration error",
                values.get(ece),
                notes,
                scale=UNIT,
                detail=f", {flavour}, {_BINS} bins",
            ),
            baseline=None,
        ),
    ]


def _area(
    title: str,
    value: MetricValue | None,
    notes: Notes,
    *,
    no_skill: float,
    detail: str | None = None,
) -> Tile:
    """The tile of an area, with the value of scores without any skill as its baseline."""
    tile = metric_tile(title, value, notes, baseline=no_skill, detail=detail)
    return replace(tile, baseline_name=NO_SKILL)


def _unbounded(tile: Tile) -> Tile:
    """A tile without a mark, because a loss has no upper end."""
    return replace(tile, baseline=None, mark=None)


def tidy_places(
    points: OperatingPoints, shares: Sequence[float], *, are_probabilities: bool
) -> Iterator[tuple[int, str]]:
    """Indices of the points for a table: 0.1, 0.2, … 0.9 as thresholds on a probability.

    For other scores, those where these shares of the samples are predicted positive. Each has the
    text of its threshold, empty if the exact score should be shown.
    """
    if are_probabilities:
        # Every second threshold for which counts are stored.
        for threshold in TIDY_THRESHOLDS[1::2]:
            yield points.at(threshold), f"{threshold:g}"
        return
    total = points.n_positive + points.n_negative
    for share in shares:
        yield int(np.searchsorted(points.reported, share * total)), ""


FEWEST_SAMPLES = 10
"""Bins with fewer samples say too little and are left out of the line."""


@dataclass(frozen=True, slots=True)
class BinLine:
    """One bin of the table; undefined values are empty if there are no examples."""

    scores: str
    cases: str
    mean_score: str
    share: str
    interval: str
    calibrated: str
    is_left_out: bool


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """The diagram with the table of the same bins."""

    drawing: Markup
    rule: str
    left_out: str | None
    lines: tuple[BinLine, ...]


def calibration_view(
    bins: CalibrationBins, *, score_name: str, share_name: str, name: str
) -> CalibrationView | None:
    """Present the bins; None if there are no samples."""
    if not bins.count.sum():
        return None
    drawn = drawn_bins(bins)
    return CalibrationView(
        drawing=reliability_drawing(
            drawn, score_name=score_name, share_name=share_name, name=name
        ),
        rule=_rule(len(drawn)),
        left_out=_left_out(drawn),
        lines=tuple(_line(bins, place, each) for place, each in enumerate(drawn)),
    )


def drawn_bins(bins: CalibrationBins) -> list[ReliabilityBin]:
    """Bins as they are drawn: those with few samples are counted but not judged."""
    bounds = wilson(bins.happened, bins.count.clip(min=1))
    calibrated_low, calibrated_high = calibrated_shares(bins)
    found = []
    for place, count in enumerate(bins.count.tolist()):
        edges = float(bins.edges[place]), float(bins.edges[place + 1])
        if count < FEWEST_SAMPLES:
            found.append(ReliabilityBin(*edges, count))
            continue
        low, high = bounds.at(place)
        score = min(max(float(bins.score_sum[place]) / count, 0.0), 1.0)
        share = int(bins.happened[place]) / count
        calibrated = float(calibrated_low[place]), float(calibrated_high[place])
        found.append(ReliabilityBin(*edges, count, score, share, low, high, *calibrated))
    return found


def _rule(n_bins: int) -> str:
    return (
        f"{n_bins} bins of equal width, without their upper end except for the last. Whiskers are "
        "95 % Wilson intervals; if a model is calibrated, a dot lies in its box in 9 of 10 "
        "samples."
    )


_MOST_LISTED = 3
"""Most bins that are named below a diagram; its table has all of them."""


def _left_out(bins: Sequence[ReliabilityBin]) -> str | None:
    few = [each for each in bins if 0 < each.count < FEWEST_SAMPLES]
    if not few:
        return None
    if len(few) > _MOST_LISTED:
        total = numbers.plural(sum(each.count for each in few), "example")
        return (
            f"Left out: {len(few)} bins with fewer than {FEWEST_SAMPLES} examples, {total} in all."
        )
    listed = [f"{_range(each)} ({numbers.plural(each.count, 'example')})" for each in few]
    named = numbers.listed(listed, at_most=_MOST_LISTED)
    return f"Left out, with fewer than {FEWEST_SAMPLES} examples: {named}."


def _range(each: ReliabilityBin) -> str:
    return f"{each.low:.3f}\N{EN DASH}{each.high:.3f}"


def _line(bins: CalibrationBins, place: int, each: ReliabilityBin) -> BinLine:
    count = each.count
    if not count:
        return BinLine(_range(each), "0", "", "", "", "", is_left_out=True)
    interval = calibrated = ""
    if each.share_low is not None and each.share_high is not None:
        interval = numbers.interval(each.share_low, each.share_high)
    if each.calibrated_low is not None and each.calibrated_high is not None:
        calibrated = numbers.interval(each.calibrated_low, each.calibrated_high)
    return BinLine(
        _range(each),
        numbers.count(count),
        numbers.metric(float(bins.score_sum[place]) / count),
        numbers.metric(int(bins.happened[place]) / count),
        interval,
        calibrated,
        is_left_out=count < FEWEST_SAMPLES,
    )


@dataclass(frozen=True, slots=True)
class SpreadView:
    """The picture of both histograms with the table of the same bins."""

    drawing: Markup
    positive_name: str
    negative_name: str
    lines: tuple[tuple[str, str, str], ...]


def spread_view(
    histogram: ScoreHistogram,
    *,
    names: tuple[str, str],
    score_name: str,
    name: str,
    threshold: tuple[float, str] | None = None,
    tones: tuple[Tone, Tone] = ("plain", "plain"),
) -> SpreadView:
    """Present the scores of positive and negative samples, which are called `names`.

    `threshold` is a score, with its caption.
    """
    positive, negative = names
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    place = None
    if threshold is not None:
        place = ((threshold[0] - low) / (high - low), threshold[1])
    return SpreadView(
        drawing=spread_drawing(
            _spread(positive, histogram.positive, histogram.edges),
            _spread(negative, histogram.negative, histogram.edges),
            ticks=_ticks(low, high),
            score_name=score_name,
            name=name,
            threshold=place,
            tones=tones,
        ),
        positive_name=positive,
        negative_name=negative,
        lines=tuple(
            (
                f"{_edge(histogram.edges[at])} \N{EN DASH} {_edge(histogram.edges[at + 1])}",
                numbers.count(int(histogram.positive[at])),
                numbers.count(int(histogram.negative[at])),
            )
            for at in range(len(histogram.positive))
        ),
    )


def _spread(name: str, counts: NDArray[np.int64], edges: NDArray[np.float64]) -> Spread:
    total = int(counts.sum())
    text = f"{numbers.shortened(name, longest=30)}, {numbers.plural(total, 'example')}"
    return Spread(text, tuple((counts / max(total, 1)).tolist()), tuple(edges.tolist()))


def _ticks(low: float, high: float) -> tuple[Tick, ...]:
    """The quarters for probabilities; for other scores both ends, which are scores that occur."""
    if (low, high) == (0.0, 1.0):
        return QUARTERS
    return ((_edge(low), 0.0), (_edge(high), 1.0))


def _edge(value: float) -> str:
    """A score with enough digits to distinguish it, with a typographic minus."""
    return f"{float(value):.6g}".replace("-", numbers.MINUS)
