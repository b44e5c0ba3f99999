"""Curves as they travel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.scores.calibration import CalibrationBins, calibrated_shares
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TOP_LABEL, ScoreCurve
from offdiag.records import evaluation as wire
from offdiag.services.curves.browse import RunCurves


def curves_answer(found: RunCurves) -> wire.CurvesAnswer:
    names = found.detail.run.labels.names
    return wire.CurvesAnswer(
        run=found.detail.run.id,
        positive_label=found.detail.run.positive_label,
        curves=[_curve(curve, names) for curve in found.shown],
        top_label=None if found.top_label is None else _curve(found.top_label, names),
    )


def _curve(curve: ScoreCurve, names: tuple[str, ...]) -> wire.Curve:
    histogram = curve.histogram
    return wire.Curve(
        label=None if curve.code == TOP_LABEL else names[curve.code],
        points=_points(curve.points),
        bins=None if curve.bins is None else _bins(curve.bins),
        histogram=wire.Histogram(
            edges=histogram.edges.tolist(),
            positive=histogram.positive.tolist(),
            negative=histogram.negative.tolist(),
        ),
    )


def _bins(bins: CalibrationBins) -> wire.Bins:
    low, high = (_numbers(share) for share in calibrated_shares(bins))
    return wire.Bins(
        edges=bins.edges.tolist(),
        count=bins.count.tolist(),
        happened=bins.happened.tolist(),
        score_sum=bins.score_sum.tolist(),
        calibrated_low=low,
        calibrated_high=high,
    )


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _points(points: OperatingPoints) -> wire.Points:
    return wire.Points(
        thresholds=points.thresholds.tolist(),
        true_positives=points.true_positives.tolist(),
        false_positives=points.false_positives.tolist(),
        n_positive=points.n_positive,
        n_negative=points.n_negative,
        n_thresholds=points.n_thresholds,
        reports_below=points.reports_below,
    )
