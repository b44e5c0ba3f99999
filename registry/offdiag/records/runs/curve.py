"""Documents of curves of the scores of a run."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.errors import Conflict
from offdiag.records.base import RequestBody, ResponseBody

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from offdiag.metrics.scores.calibration import CalibrationBins
    from offdiag.metrics.scores.operating_points import OperatingPoints
    from offdiag.metrics.scores.score_curves import ScoreCurve
    from offdiag.services.curves import RunCurves
    from offdiag.store.database import Database


class CurvesQuery(RequestBody):
    """Filters for curves."""

    positive: str | None = Field(
        default=None,
        description="Only curves of this class; by default those of all classes with stored "
        "curves.",
    )


class Points(ResponseBody):
    """Thresholds with the counts of their predictions, from which every rate follows."""

    thresholds: list[float]
    true_positives: list[int]
    false_positives: list[int]
    n_positive: int
    n_negative: int
    n_thresholds: int = Field(description="Number of distinct thresholds that the scores have.")
    reports_below: bool = Field(
        description="Whether scores below the threshold count as positive."
    )

    def operating_points(self) -> OperatingPoints:
        """The stored points."""
        import numpy as np

        from offdiag.metrics.scores.operating_points import OperatingPoints

        return OperatingPoints(
            np.array(self.thresholds, dtype=np.float64),
            np.array(self.true_positives, dtype=np.int64),
            np.array(self.false_positives, dtype=np.int64),
            self.n_positive,
            self.n_negative,
            self.n_thresholds,
            self.reports_below,
        )


class Bins(ResponseBody):
    """Frequency of the event in each bin of the score."""

    edges: list[float]
    count: list[int]
    happened: list[int]
    score_sum: list[float]
    calibrated_low: list[float | None] = Field(
        default=[],
        description="Share below which a perfectly calibrated model is in 1 of 20 samples; null "
        "in an empty bin.",
    )
    calibrated_high: list[float | None] = Field(
        default=[], description="Share above which it is in 1 of 20 samples."
    )


class Histogram(ResponseBody):
    """Score distribution of positive and of negative samples."""

    edges: list[float]
    positive: list[int]
    negative: list[int]


class Curve(ResponseBody):
    """The stored curves of a class against the rest, or of the largest probability of each
    sample."""

    label: str | None = Field(description="Null for the top label.")
    points: Points
    bins: Bins | None = Field(description="Null for scores that are not probabilities.")
    histogram: Histogram


class Curves(ResponseBody):
    """The curves of a run."""

    run: str
    positive_label: str | None
    curves: list[Curve]
    top_label: Curve | None


def curves_document(found: RunCurves) -> Curves:
    """The curves of the given classes, and of the top label."""
    names = found.detail.run.labels.names
    return Curves(
        run=found.detail.run.id,
        positive_label=found.detail.run.positive_label,
        curves=[_curve(curve, names[curve.code]) for curve in found.shown],
        top_label=None if found.top_label is None else _curve(found.top_label, None),
    )


def asked_curves(database: Database, run_id: str, asked: CurvesQuery) -> Curves:
    """The requested curves. Raises `Conflict` for a run without curves."""
    from offdiag.services.curves import all_curves, browse_curves

    if asked.positive is None:
        found = all_curves(database, run_id)
    else:
        found = browse_curves(database, run_id, positive=asked.positive)
    if found.missing is not None:
        raise Conflict(
            f"run {run_id} has no curves ({found.missing.value.replace('_', ' ')}).",
            field="run",
            hint="Log scores with the predictions, and wait for the evaluation.",
        )
    return curves_document(found)


def _curve(curve: ScoreCurve, label: str | None) -> Curve:
    return Curve(
        label=label,
        points=Points.made_of(
            curve.points,
            thresholds=curve.points.float64_thresholds.tolist(),
            **_lists(curve.points, "true_positives", "false_positives"),
        ),
        bins=None if curve.bins is None else _bins(curve.bins),
        histogram=Histogram.model_validate(_lists(curve.histogram, *Histogram.model_fields)),
    )


def _bins(bins: CalibrationBins) -> Bins:
    from offdiag.metrics.scores.calibration import calibrated_shares

    low, high = (_numbers(share) for share in calibrated_shares(bins))
    return Bins(
        **_lists(bins, "edges", "count", "happened", "score_sum"),
        calibrated_low=low,
        calibrated_high=high,
    )


def _lists(found: object, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name).tolist() for name in names}


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [None if isnan(value) else value for value in values.tolist()]
