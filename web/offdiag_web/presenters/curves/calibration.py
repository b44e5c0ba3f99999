"""How well scores are calibrated: the diagram, its table, and what was left out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.scores.calibration import CalibrationBins, calibrated_shares
from offdiag_web.charts.reliability import ReliabilityBin, reliability_drawing
from offdiag_web.presenters import numbers

FEWEST_CASES = 10
"""A bin with fewer cases says too little and is left out of the line."""


@dataclass(frozen=True, slots=True)
class BinLine:
    """One bin of the table; undefined parts are empty where there are no cases."""

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
    """Present bins, None without any case."""
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
    """Bins as they are drawn: few cases are counted and not judged."""
    bounds = wilson(bins.happened, bins.count.clip(min=1))
    calibrated_low, calibrated_high = calibrated_shares(bins)
    found = []
    for place, count in enumerate(bins.count.tolist()):
        edges = float(bins.edges[place]), float(bins.edges[place + 1])
        if count < FEWEST_CASES:
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
        f"{n_bins} bins of equal width, each without its upper end but for the last one; "
        "whiskers are 95 % Wilson intervals, and a dot of a calibrated model lies in its box in 9 "
        "of 10 samples."
    )


def _left_out(bins: Sequence[ReliabilityBin]) -> str | None:
    few = [each for each in bins if 0 < each.count < FEWEST_CASES]
    if not few:
        return None
    listed = [f"{_range(each)} ({numbers.plural(each.count, 'case')})" for each in few]
    return f"Left out, with fewer than {FEWEST_CASES} cases: {numbers.listed(listed, at_most=15)}."


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
        is_left_out=count < FEWEST_CASES,
    )
