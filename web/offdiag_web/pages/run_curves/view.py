"""The page of curves: one class, or many, or why there is nothing to draw."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.orientation import SourceOrientation
from offdiag.services.curves import NoCurves, RunCurves
from offdiag.store.run_page import RunDetail
from offdiag_web.components.controls import Caution
from offdiag_web.components.values import LOG_SCORES, Notes
from offdiag_web.pages.run_curves.address import CurvesAddress
from offdiag_web.pages.run_curves.many_classes import ManyClassesView, many_classes_view
from offdiag_web.pages.run_curves.one_class import OneClassView, one_class_view

LARGEST_CHOICE = 200
"""Up to this many classes are picked from a list; above, their name is typed."""


@dataclass(frozen=True, slots=True)
class ClassForm:
    """Asking for a class and a prevalence; `choices` is None where classes are too many."""

    positive: str
    prevalence: str
    choices: tuple[str, ...] | None
    may_be_all: bool


@dataclass(frozen=True, slots=True)
class CurvesView:
    """One of `one`, `many` and `missing` is there, or nothing while there are no results."""

    one: OneClassView | None
    many: ManyClassesView | None
    missing: Caution | None
    snippet: str | None
    form: ClassForm
    all_url: str
    measured_url: str
    notes: tuple[str, ...]


def curves_view(found: RunCurves, address: CurvesAddress) -> CurvesView:
    """Present the curves of a run as its address asks for."""
    notes = Notes()
    results, labels = found.detail.results, found.detail.run.labels
    one = many = None
    if found.missing is None and results is not None:
        if found.positive is not None:
            one = one_class_view(found.shown[0], results, notes, prevalence=address.prevalence)
        else:
            many = many_classes_view(found, results, address, notes)
    shown = None if found.positive is None else labels.names[found.positive]
    return CurvesView(
        one=one,
        many=many,
        missing=_missing(found),
        snippet=LOG_SCORES if found.missing is NoCurves.NO_SCORES else None,
        form=ClassForm(
            positive=shown or "",
            prevalence="" if address.prevalence is None else f"{address.prevalence:g}",
            choices=tuple(sorted(labels.names)) if len(labels) <= LARGEST_CHOICE else None,
            may_be_all=found.detail.run.positive_label is None,
        ),
        all_url=CurvesAddress(address.run_id).url(),
        measured_url=address.at_prevalence(None).url(),
        notes=tuple(notes.texts),
    )


def _missing(found: RunCurves) -> Caution | None:
    match found.missing:
        case NoCurves.NO_SCORES:
            return Caution("No scores are stored.", _why_no_scores(found.detail))
        case NoCurves.NOT_DRAWN:
            return Caution(
                "Curves have not been drawn yet.",
                "These results were made before curves were kept with them. A worker draws them "
                "by itself; offdiag recompute does it at once.",
            )
        case NoCurves.NO_CASES:
            return Caution(
                "No case has a label yet.", "Curves are drawn as soon as labels arrive."
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
        "Only predicted classes were logged, and a threshold cannot be moved without scores. "
        "Log them with y_score."
    )
