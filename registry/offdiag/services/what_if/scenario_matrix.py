"""A run's metrics under another threshold, positive class, class shares, or merged classes.

Everything is computed from the stored matrix or, for a threshold, from the stored counts of the
scores; no predictions are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.what_if import at_prevalence, merge_classes, other_positive_class
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TIDY_THRESHOLDS, ScoreCurve
from offdiag.metrics.suite import labelled_suite
from offdiag.services.curves import browse_curves
from offdiag.store.database import Database
from offdiag.store.run_page import read_run

REST = "rest"


@dataclass(frozen=True, slots=True)
class Change:
    """The changes, applied in this order.

    `threshold` is on the scores of the class `positive`, or of the dataset's own: samples from it
    upwards are predicted positive, all others are the rest. `merged` maps names of new classes to
    their members. `swaps_positive` exchanges two classes. `prevalence` gives the share of every
    class that remains.
    """

    positive: str | None = None
    threshold: float | None = None
    merged: Mapping[str, Sequence[str]] = field(default_factory=dict)
    swaps_positive: bool = False
    prevalence: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Recounted:
    """The matrix of a run after a change, (K, K) counts or sums of weights, and its metrics.

    `threshold` is the one used, the nearest of those stored; None if it is infinite.
    """

    run_id: str
    labels: LabelSet
    counts: NDArray[Any]
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]
    threshold: float | None = None


def recount(database: Database, run_id: str, change: Change) -> Recounted:
    """The results of a run after a change.

    Raises `NotFound`, `InvalidInput` for changes that cannot be made, and `Conflict` for a run
    without results, or without the scores that a threshold requires.
    """
    threshold = None
    if change.threshold is not None:
        matrix, threshold = _at_threshold(database, run_id, change.positive, change.threshold)
    else:
        matrix = _stored_matrix(database, run_id)
    if change.merged:
        matrix = merge_classes(matrix, change.merged)
    if change.swaps_positive:
        matrix = other_positive_class(matrix)
    counts: NDArray[Any] = matrix.counts
    if change.prevalence is not None:
        counts = at_prevalence(matrix, change.prevalence)
    suite = labelled_suite(counts, matrix.labels)
    return Recounted(
        run_id=run_id,
        labels=matrix.labels,
        counts=counts,
        aggregate={key: quantity.at() for key, quantity in suite.aggregate.items()},
        per_class={
            key: tuple(quantity.at(code) for code in range(matrix.n_classes))
            for key, quantity in suite.per_class.items()
        },
        threshold=threshold,
    )


def _stored_matrix(database: Database, run_id: str) -> ConfusionMatrix:
    with database.read() as session:
        results = read_run(session, run_id).results
    if results is None:
        raise Conflict(
            f"run {run_id} has no results yet.",
            field="runs",
            hint="Ask again once it has been evaluated.",
        )
    return results.matrix


def _at_threshold(
    database: Database, run_id: str, positive: str | None, threshold: float
) -> tuple[ConfusionMatrix, float | None]:
    found = browse_curves(database, run_id, positive=positive)
    if found.missing is not None or found.positive is None:
        raise Conflict(
            f"run {run_id} has no scores of one class to move a threshold on.",
            field="positive" if found.missing is None else "runs",
            hint="Name the positive class, of a run that was logged with scores.",
        )
    labels, curve = found.detail.run.labels, found.shown[0]
    points = curve.points
    if not len(points):
        raise Conflict(
            f"run {run_id} has no scores.", field="runs", hint="Log scores with the predictions."
        )
    names = _two_names(labels, found.positive)
    _require_kept(curve, threshold, names[1])
    if points.reports_below:
        if curve.bins is None:
            raise InvalidInput(
                f"the scores are those of {names[0]!r}, and not probabilities.",
                field="positive",
                hint="Name that class, and a threshold on its scores.",
            )
        place, kept = _of_probability(points, threshold)
    else:
        place = points.at(threshold)
        kept = float(points.float64_thresholds[place])
    return _of_two(points, place, names), kept if np.isfinite(kept) else None


def _require_kept(curve: ScoreCurve, threshold: float, name: str) -> None:
    """Raise `InvalidInput` for a threshold that was not stored for a class without examples.

    For such a class only few are: the points of a curve are chosen by recall and precision, which
    it does not have.
    """
    points = curve.points
    has_examples = points.n_negative if points.reports_below else points.n_positive
    own = 1.0 - points.thresholds if points.reports_below else points.thresholds
    kept = np.sort(own).astype(np.float32)
    wanted = np.float32(threshold)
    if has_examples or len(points) == points.n_thresholds or not kept[0] < wanted < kept[-1]:
        return
    exact = [*TIDY_THRESHOLDS] if curve.bins is not None else kept.tolist()
    if wanted in np.array(exact, dtype=np.float32) or wanted in kept:
        return
    below = max((each for each in exact if each < threshold), default=None)
    above = min((each for each in exact if each > threshold), default=None)
    near = " or ".join(f"{each:.9g}" for each in (below, above) if each is not None)
    raise InvalidInput(
        f"the run has no example of {name!r}, so few thresholds on its scores are kept, and "
        f"{threshold:g} is between them.",
        field="threshold",
        hint=f"Ask for {near}, or for a class that has examples.",
    )


def _of_probability(points: OperatingPoints, threshold: float) -> tuple[int, float]:
    """The place of a threshold on 1 - p in points about p, and the threshold that is used.

    A point reports the scores below its own: the last of these is the one of the previous point,
    unless points between the two were dropped.
    """
    own = 1.0 - points.thresholds
    place = min(int(np.count_nonzero(own >= threshold)), len(points) - 1)
    if place == 0:
        return place, np.inf
    has_all = len(points) == points.n_thresholds
    return place, float(own[place - 1] if has_all else np.nextafter(own[place], np.inf))


def _two_names(labels: LabelSet, positive: int) -> tuple[str, str]:
    """The names of the rest and of the positive class, in this order."""
    name = labels.names[positive]
    if len(labels) == 2:
        return labels.names[1 - positive], name
    return (REST if name != REST else f"{REST} of {name}"), name


def _of_two(points: OperatingPoints, place: int, names: tuple[str, str]) -> ConfusionMatrix:
    hits, false_alarms = int(points.true_positives[place]), int(points.false_positives[place])
    counts = [
        [points.n_negative - false_alarms, false_alarms],
        [points.n_positive - hits, hits],
    ]
    return ConfusionMatrix(np.array(counts, dtype=np.int64), LabelSet(names))


def require_one_kind(change: Change) -> None:
    """Raise `InvalidInput` for parts of a change that make no sense together."""
    if change.positive is not None and change.threshold is None:
        raise InvalidInput(
            "a positive class alone changes nothing.",
            field="positive",
            hint="Send a threshold with it, or swap_positive to exchange two classes.",
        )
