"""Curves as they travel."""

from __future__ import annotations

from offdiag.metrics.probabilistic.operating_points import OperatingPoints
from offdiag.metrics.probabilistic.score_curves import TOP_LABEL, ScoreCurve
from offdiag.services.curves.browse import RunCurves
from offdiag.wire import curves as wire


def curves_answer(found: RunCurves) -> wire.CurvesAnswer:
    names = found.detail.run.labels.names
    return wire.CurvesAnswer(
        run=found.detail.run.id,
        positive_label=found.detail.run.positive_label,
        curves=[_curve(curve, names) for curve in found.shown],
        top_label=None if found.top_label is None else _curve(found.top_label, names),
    )


def _curve(curve: ScoreCurve, names: tuple[str, ...]) -> wire.Curve:
    bins, histogram = curve.bins, curve.histogram
    return wire.Curve(
        label=None if curve.code == TOP_LABEL else names[curve.code],
        points=_points(curve.points),
        bins=None
        if bins is None
        else wire.Bins(
            edges=bins.edges.tolist(),
            count=bins.count.tolist(),
            happened=bins.happened.tolist(),
            score_sum=bins.score_sum.tolist(),
        ),
        histogram=wire.Histogram(
            edges=histogram.edges.tolist(),
            positive=histogram.positive.tolist(),
            negative=histogram.negative.tolist(),
        ),
    )


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
