"""The view of score curves: one class, or many, or why there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets, unweighted
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.curves import (
    CLASSES_PER_PAGE,
    NoCurves,
    RankedBy,
    RunCurves,
    default_ranking,
)
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.charts.curves import precision_recall_drawing, roc_drawing
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, listed_choices, quoted_name
from offdiag_web.components.controls import CLASSES, LABELS, Caution, Segment, paging
from offdiag_web.components.curves import (
    CalibrationView,
    SpreadView,
    calibration_view,
    overview_tiles,
    spread_view,
)
from offdiag_web.components.metric_values import (
    LOG_SCORES,
    Notes,
    ShownValue,
    interval_text,
    shown,
)
from offdiag_web.components.runs.frame import run_page
from offdiag_web.pages.run_curves.address import CurvesAddress
from offdiag_web.pages.run_curves.class_curves import (
    given_of,
    one_class_view,
    precision_in_use,
    roc_in_use,
)

_AREAS = {RankedBy.ROC: "ROC AUC", RankedBy.PRECISION_RECALL: "Average precision"}
_KINDS = ((RankedBy.ROC, "ROC"), (RankedBy.PRECISION_RECALL, "precision and recall"))


@dataclass(frozen=True, slots=True)
class SmallCurve:
    """One class: its curve, the area under it, and a link to all its curves."""

    head: ClassHead
    url: str
    drawing: Markup | None
    area: ShownValue
    interval: str | None
    cases: str


def many_classes_view(
    found: RunCurves, results: RunResults, address: CurvesAddress, notes: Notes
) -> dict[str, object]:
    """Present the curves of several classes."""
    words = LABELS if isinstance(results.counted, CountedSets) else CLASSES
    pages = paging(
        found.n_classes,
        found.start,
        per_page=CLASSES_PER_PAGE,
        words=(words.one, words.many),
        url=lambda start: replace(address, start=start).url(),
    )
    return {
        "title": f"The worst {words.many}" if not found.start else f"Further {words.many}",
        "reading": _reading(found.ranked_by, words.one),
        "area_name": _AREAS[found.ranked_by],
        "tiles": tuple(overview_tiles(results, notes)),
        "kinds": _kinds(found.ranked_by, results, address),
        "curves": tuple(
            _small(curve, found.ranked_by, results, address, notes) for curve in found.shown
        ),
        "paging": pages,
        "calibration": _calibration(found.top_label),
        "spread": _spread(found.top_label),
    }


def _reading(ranked_by: RankedBy, noun: str) -> str:
    if ranked_by is RankedBy.ROC:
        return (
            f"Up: recall of the {noun}. Right: share of the rest that is predicted positive with "
            "it. Dashed: no skill. Ring: the predictions of this run."
        )
    return (
        f"Up: precision. Right: recall of the {noun}. Dashed: no skill, the share of the {noun}. "
        "Ring: the predictions of this run."
    )


def _kinds(
    ranked_by: RankedBy, results: RunResults, address: CurvesAddress
) -> tuple[Segment, ...]:
    default = default_ranking(results)
    return tuple(
        Segment(text, address.by(None if kind is default else kind).url(), kind is ranked_by)
        for kind, text in _KINDS
    )


def _small(
    curve: ScoreCurve,
    ranked_by: RankedBy,
    results: RunResults,
    address: CurvesAddress,
    notes: Notes,
) -> SmallCurve:
    matrix, code = unweighted(results.counted), curve.code
    name = matrix.labels.names[code]
    area = results.per_class[ranked_by.value][code]
    return SmallCurve(
        head=class_head(name),
        url=address.of_class(name).url(),
        drawing=_drawing(curve, ranked_by, results),
        area=shown(area, notes),
        interval=interval_text(area),
        cases=numbers.plural(int(matrix.actual[code]), "example"),
    )


def _drawing(curve: ScoreCurve, ranked_by: RankedBy, results: RunResults) -> Markup | None:
    points, given = curve.points, given_of(results, curve.code)
    name = quoted_name(results.counted.labels.names[curve.code])
    if not points.n_positive or (ranked_by is RankedBy.ROC and not points.n_negative):
        return None
    if ranked_by is RankedBy.ROC:
        return roc_drawing(
            points,
            name=f"ROC curve of {name}",
            in_use=roc_in_use(points, given),
            is_small=True,
        )
    return precision_recall_drawing(
        points,
        name=f"Precision and recall of {name}",
        in_use=precision_in_use(points, given),
        is_small=True,
    )


def _calibration(curve: ScoreCurve | None) -> CalibrationView | None:
    if curve is None or curve.bins is None:
        return None
    return calibration_view(
        curve.bins,
        score_name="largest score of an example",
        share_name="share of correct predictions",
        name="How often the class with the largest score is right, over that score, in bins",
    )


def _spread(curve: ScoreCurve | None) -> SpreadView | None:
    if curve is None:
        return None
    return spread_view(
        curve.histogram,
        names=("correct predictions", "wrong predictions"),
        score_name="largest score of an example",
        name="Distribution of the largest score, for correct and wrong predictions",
        tones=("correct", "error"),
    )


def curves_view(found: RunCurves, address: CurvesAddress, notices: list[str]) -> Response:
    """Present the curves of a run according to its address."""
    notes = Notes()
    results, labels = found.detail.results, found.detail.run.labels
    one = many = None
    if found.missing is None and results is not None:
        if found.positive is not None:
            one = one_class_view(found.shown[0], results, notes, prevalence=address.prevalence)
        else:
            many = many_classes_view(found, results, address, notes)
    return run_page(
        "run_curves/page.html",
        found.detail,
        "curves",
        address=address,
        notices=notices,
        one=one,
        many=many,
        missing=_missing(found),
        snippet=LOG_SCORES if found.missing is NoCurves.NO_SCORES else None,
        positive="" if found.positive is None else labels.names[found.positive],
        choices=listed_choices(labels.names),
        may_be_all=found.detail.run.positive_label is None,
        all_url=CurvesAddress(address.run_id, part=address.part).url(),
        measured_url=replace(address, prevalence=None).url(),
        notes=tuple(notes.texts),
        counted=None if results is None or one is None else _of_counted(results.aggregate),
    )


_BOUNDED = {"roc_auc": "ROC AUC", "average_precision": "average precision", "ks": "KS"}


def _of_counted(aggregate: Mapping[str, MetricValue]) -> str | None:
    """How far values from binned scores may be off; None if they are exact."""
    bounds = {
        title: aggregate[key].error_bound for key, title in _BOUNDED.items() if key in aggregate
    }
    said = [f"{title} by {bound:.2g}" for title, bound in bounds.items() if bound is not None]
    if not said:
        return None
    listed = ", ".join(said)
    return f"Scores were counted in bins. Largest errors, included in the intervals: {listed}."


def _missing(found: RunCurves) -> Caution | None:
    match found.missing:
        case NoCurves.NO_SCORES:
            return Caution("No scores are stored.", _why_no_scores(found.detail))
        case NoCurves.NOT_DRAWN:
            return Caution(
                "Curves have not been drawn yet.",
                "These results are older than stored curves. A worker adds them automatically; "
                "offdiag recompute adds them at once.",
            )
        case NoCurves.WEIGHTED:
            return Caution(
                "Curves of weighted examples are not drawn.",
                "The score metrics are weighted. For curves, use offdiag.evaluate_scores with "
                "sample_weight=.",
            )
        case NoCurves.NO_SAMPLES:
            return Caution(
                "No example has a label yet.", "Curves are drawn as soon as labels arrive."
            )
        case _:
            return None


def _why_no_scores(detail: RunDetail) -> str:
    if detail.run.counted_on is not None:
        return (
            "Only the counts of this run were logged. Curves need a score for each prediction: "
            "log the frame with keep_predictions=True and score=…."
        )
    if detail.run.source is not SourceOrientation.PREDICTIONS:
        return (
            "This run was logged as a finished matrix. Curves need a score for each prediction: "
            "log predictions with y_score."
        )
    return (
        "Only predicted classes were logged. Curves need a score for each prediction: log them "
        "with y_score."
    )
