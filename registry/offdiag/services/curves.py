"""ROC and precision-recall curves of runs: one class against the rest, or the worst of many.

The curves of a run are stored with its evaluation; those of a slice are computed on request and
cached. A class can be shown at any stated prevalence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.slices import parse_slice
from offdiag.domain.values import MetricValue, worst_first
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.what_if import at_prevalence
from offdiag.metrics.counted import Counted, numbers_of, unweighted
from offdiag.metrics.scores.score_curves import TOP_LABEL, ScoreCurve, of_other_class
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.evaluation.compute import curves_of
from offdiag.services.evaluation.inputs import read_inputs
from offdiag.services.evaluation.slices import sliced_run
from offdiag.services.lru_cache import LruCache
from offdiag.store.database import Database, Session
from offdiag.store.evaluations_write import read_curves
from offdiag.store.run_page import RunDetail, RunResults, read_run

PREVALENCE_KEYS = (
    *("recall", "specificity", "precision", "npv", "f1", "mcc_ovr", "accuracy_ovr"),
    *("balanced_accuracy_ovr", "lift"),
)
"""Metrics shown at another prevalence; recall and specificity do not depend on it."""
_REST, _CLASS = 0, 1


def measured_values(counted: Counted, code: int) -> Mapping[str, MetricValue]:
    """The measured metric values of a class against the rest, by key."""
    suite = evaluate_stack(one_against_rest(counted, code).counts, ordinal=False)
    return {key: suite.per_class[key].at(_CLASS) for key in PREVALENCE_KEYS}


def values_at_prevalence(
    counted: Counted, code: int, prevalence: float
) -> Mapping[str, MetricValue]:
    """The metric values of a class if it made up a share in (0, 1) of the samples.

    Raises `InvalidInput` for another share, and if the class or the rest has no samples.
    """
    weighted = at_prevalence(one_against_rest(counted, code), [1 - prevalence, prevalence])
    suite = evaluate_stack(weighted, ordinal=False)
    return {key: suite.per_class[key].at(_CLASS) for key in PREVALENCE_KEYS}


def one_against_rest(counted: Counted, code: int) -> ConfusionMatrix:
    """The matrix of two classes: first the rest, then the class or label."""
    found = unweighted(counted)
    hits = int(found.correct[code])
    missed = int(found.actual[code]) - hits
    false_alarms = int(found.predicted[code]) - hits
    rest = found.total - hits - missed - false_alarms
    counts = np.array([[rest, false_alarms], [missed, hits]], dtype=np.int64)
    return ConfusionMatrix(counts, LabelSet(("rest", "class")))


CLASSES_PER_PAGE = 12


class RankedBy(StrEnum):
    """Which area under the curve sorts the classes, the worst first."""

    ROC = "roc_auc"
    PRECISION_RECALL = "average_precision"


class NoCurves(StrEnum):
    """Why there is no curve to draw."""

    NO_SCORES = "no_scores"
    NOT_EVALUATED = "not_evaluated"
    NOT_DRAWN = "not_drawn"
    NO_SAMPLES = "no_cases"
    WEIGHTED = "weighted"


@dataclass(frozen=True, eq=False)
class RunCurves:
    """Curves by class code. `shown` are the classes of this page, the worst first.

    `positive` is the class shown alone, None if there are many. `top_label` is present if every
    class has a score that is a probability.
    """

    detail: RunDetail
    shown: tuple[ScoreCurve, ...] = ()
    top_label: ScoreCurve | None = None
    positive: int | None = None
    start: int = 0
    n_classes: int = 0
    ranked_by: RankedBy = RankedBy.ROC
    missing: NoCurves | None = None


def browse_curves(
    database: Database,
    run_id: str,
    *,
    positive: str | None = None,
    ranked_by: RankedBy | None = None,
    start: int = 0,
    part: str | None = None,
) -> RunCurves:
    """The curves of a run, or of a slice of it.

    With a positive class, named or the dataset's own, the curves of that class against the rest;
    otherwise those of `CLASSES_PER_PAGE` classes from the `start`-th worst on. Raises `NotFound`,
    `InvalidInput` for an unknown class, and what `sliced_run` raises.
    """
    detail = _read_run(database, run_id, part)
    with database.read() as session:
        missing = _why_none(detail)
        if missing is not None or detail.results is None:
            return RunCurves(detail, missing=missing)
        labels = detail.run.labels
        named = positive or detail.run.positive_label
        code = None if named is None else labels.code_of(named, field_name="positive")
        if code is not None:
            return _of_one(session, detail, detail.results, code, part)
        return _of_many(session, detail, detail.results, ranked_by, start=start, part=part)


def default_ranking(results: RunResults) -> RankedBy:
    """Precision and recall if most classes are rare: ROC curves hide the false alarms of these."""
    shares = sorted(
        int(n) / max(results.counted.total, 1) for n in unweighted(results.counted).actual
    )
    is_rare = shares[len(shares) // 2] < RARE
    return RankedBy.PRECISION_RECALL if is_rare else RankedBy.ROC


RARE = 0.1
"""Below this share of the samples, precision and recall say more than ROC rates."""


def _why_none(detail: RunDetail) -> NoCurves | None:
    if not detail.run.score_columns:
        return NoCurves.NO_SCORES
    if detail.run.is_weighted:
        return NoCurves.WEIGHTED
    if detail.results is None:
        return NoCurves.NOT_EVALUATED
    return None if detail.results.counted.total else NoCurves.NO_SAMPLES


def _read_run(
    database: Database, run_id: str, part: str | None, *, aggregates: bool = True
) -> RunDetail:
    with database.read() as session:
        detail = read_run(session, run_id, aggregates=aggregates)
    return detail if part is None else sliced_run(database, detail, part)


MOST_SLICES = 16
_OF_SLICES: LruCache[dict[int, ScoreCurve]] = LruCache(most=MOST_SLICES)


def _curves(
    session: Session,
    results: RunResults,
    run_id: str,
    part: str | None,
    codes: Collection[int] | None = None,
) -> dict[int, ScoreCurve]:
    if part is None:
        return read_curves(session, results.facts.id, codes)

    def drawn() -> dict[int, ScoreCurve]:
        curves = curves_of(read_inputs(session, run_id, parse_slice(part)))
        return {curve.code: curve for curve in curves}

    found = _OF_SLICES.get(results.facts.input_digest, drawn)
    return {code: curve for code, curve in found.items() if codes is None or code in codes}


def _of_one(
    session: Session, detail: RunDetail, results: RunResults, code: int, part: str | None
) -> RunCurves:
    # With a positive class only its curve is kept; that of the other class follows from it.
    codes = {code, TOP_LABEL, *_own_positive(detail)}
    found = _curves(session, results, detail.run.id, part, codes)
    curve = found.get(code)
    if curve is None and len(results.counted.labels) == 2:
        other = found.get(1 - code)
        curve = None if other is None else of_other_class(other)
    if curve is None:
        return RunCurves(detail, missing=NoCurves.NOT_DRAWN)
    return RunCurves(
        detail,
        (curve,),
        found.get(TOP_LABEL),
        positive=code,
        n_classes=len(results.counted.labels),
    )


def _own_positive(detail: RunDetail) -> tuple[int, ...]:
    name = detail.run.positive_label
    return () if name is None else (detail.run.labels.index[name],)


def _of_many(
    session: Session,
    detail: RunDetail,
    results: RunResults,
    ranked_by: RankedBy | None,
    *,
    start: int,
    part: str | None,
) -> RunCurves:
    by = ranked_by or default_ranking(results)
    areas, counted = results.per_class.get(by.value, ()), numbers_of(results.counted)
    ranked = worst_first(areas, counted.actual.tolist())
    first = min(start, max(len(ranked) - 1, 0) // CLASSES_PER_PAGE * CLASSES_PER_PAGE)
    codes = ranked[first : first + CLASSES_PER_PAGE]
    found = _curves(session, results, detail.run.id, part, {*codes, TOP_LABEL})
    if not found:
        return RunCurves(detail, missing=NoCurves.NOT_DRAWN)
    return RunCurves(
        detail,
        tuple(found[code] for code in codes if code in found),
        found.get(TOP_LABEL),
        start=first,
        n_classes=len(ranked),
        ranked_by=by,
    )


def all_curves(database: Database, run_id: str, *, part: str | None = None) -> RunCurves:
    """All curves of a run at once, by class code, for an export. Raises like `browse_curves`."""
    detail = _read_run(database, run_id, part, aggregates=False)
    with database.read() as session:
        missing = _why_none(detail)
        if missing is not None or detail.results is None:
            return RunCurves(detail, missing=missing)
        found = _curves(session, detail.results, run_id, part)
    if not found:
        return RunCurves(detail, missing=NoCurves.NOT_DRAWN)
    return RunCurves(
        detail,
        tuple(curve for code, curve in found.items() if code != TOP_LABEL),
        found.get(TOP_LABEL),
        n_classes=len(detail.run.labels),
    )
