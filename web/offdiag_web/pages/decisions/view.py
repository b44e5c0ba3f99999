"""The page of decisions as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.costs.decisions import at_deployment
from offdiag.metrics.costs.edits import cost_text
from offdiag.services.decisions.rules import Decisions, NoDecision
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_order
from offdiag_web.components.controls import Caution, Segment
from offdiag_web.components.costs.form import ShareField, base_segments, base_text, share_fields
from offdiag_web.components.numbers import LOG_SCORES
from offdiag_web.pages.decisions.changes import ChangedPredictionsView, changed_predictions_view
from offdiag_web.pages.decisions.thresholds import ThresholdView, threshold_view
from offdiag_web.urls.costs import CostsAddress
from offdiag_web.urls.what_if import WhatIfAddress

LONGEST_NAME = 500


@dataclass(frozen=True, slots=True)
class DerivedRun:
    """A run that was decided from these scores before."""

    id: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class DecisionsView:
    """Everything the page shows; `missing` says why there is nothing to choose."""

    run_id: str
    run_name: str
    run_url: str
    subtitle: str
    address: WhatIfAddress
    what_if_url: str
    base: str
    base_url: str | None
    currency: str | None
    bases: tuple[Segment, ...]
    changes: str
    notices: tuple[str, ...]
    shares: tuple[ShareField, ...]
    has_shares: bool
    sides: tuple[Segment, ...]
    thresholds: ThresholdView | None
    answers: ChangedPredictionsView | None
    missing: Caution | None
    snippet: str | None
    save_name: str
    derived: tuple[DerivedRun, ...]


def decisions_view(
    found: Decisions, address: WhatIfAddress, *, run_url: Callable[[str], str]
) -> DecisionsView:
    """Present decisions. `address` is the canonical one; `run_url` leads to a run."""
    run, scenario = found.run, found.scenario
    record = scenario.base.record
    order = class_order(run.matrix, None)
    return DecisionsView(
        run_id=run.id,
        run_name=run.name,
        run_url=run_url(run.id),
        subtitle=_subtitle(found),
        address=address,
        what_if_url=address.of_runs((run.id,)).url(),
        base=base_text(scenario.base),
        base_url=None
        if record is None
        else CostsAddress(record.project, record.name, record.version).url(),
        currency=scenario.costs.currency,
        bases=base_segments(
            scenario.base,
            found.choices,
            is_edited=bool(scenario.edits),
            url_of=lambda reference: address.asking(costs=reference, edits="").decisions_url(
                run.id
            ),
        ),
        changes=_changes(found),
        notices=scenario.problems,
        shares=share_fields(run.matrix, scenario.shares, order),
        has_shares=scenario.prevalence is not None,
        sides=_sides(found, address),
        thresholds=None
        if found.thresholds is None
        else threshold_view(found.thresholds, run.matrix, currency=scenario.costs.currency),
        answers=None
        if found.change is None
        else changed_predictions_view(
            found.change, at_deployment(scenario.effective, run.matrix, scenario.prevalence)
        ),
        missing=_missing(found),
        snippet=LOG_SCORES if found.missing is NoDecision.NO_SCORES else None,
        save_name=_save_name(found),
        derived=tuple(DerivedRun(each.id, each.name, run_url(each.id)) for each in found.derived),
    )


def _subtitle(found: Decisions) -> str:
    run = found.run
    version = "" if run.truth is None else f" v{run.truth.number}"
    return (
        f"{run.dataset}{version} · {numbers.plural(run.matrix.total, 'example')} · "
        f"{numbers.plural(run.matrix.n_classes, 'class', 'classes')}"
    )


def _sides(found: Decisions, address: WhatIfAddress) -> tuple[Segment, ...]:
    """Which class is flagged, where the dataset leaves that open."""
    run = found.run
    if found.thresholds is None or run.positive_label is not None:
        return ()
    return tuple(
        Segment(
            numbers.shortened(name),
            replace(address, positive=name).decisions_url(run.id),
            code == found.thresholds.positive,
        )
        for code, name in enumerate(run.matrix.labels.names)
    )


def _changes(found: Decisions) -> str:
    scenario = found.scenario
    parts = []
    n_cells = int((scenario.costs.weights != scenario.base.costs.weights).sum())
    if n_cells:
        parts.append(f"{numbers.plural(n_cells, 'cell')} changed")
    if scenario.groups:
        parts.append("classes are merged")
    if scenario.shares:
        names = scenario.costs.labels.names
        stated = (
            f"{numbers.shortened(names[code])} {cost_text(share)}"
            for code, share in scenario.shares.items()
        )
        parts.append(f"class shares at deployment: {', '.join(stated)}")
    return " · ".join(parts)


def _save_name(found: Decisions) -> str:
    text = f"{found.run.name}, by {found.scenario.base.reference.lstrip('@')}"
    return text[:LONGEST_NAME]


_ALWAYS_SAID = {
    NoDecision.NOT_DRAWN: Caution(
        "Thresholds have not been counted yet.",
        "These results were made before curves were kept with them. A worker draws them "
        "by itself; offdiag recompute does it at once.",
    ),
    NoDecision.NO_SAMPLES: Caution(
        "No example has a label yet.", "Costs can be computed once labels arrive."
    ),
    NoDecision.COUNTED: Caution(
        "The scores of each class were counted by themselves.",
        "Deciding by expected cost needs all scores of an example: log the predictions.",
    ),
}


def _missing(found: Decisions) -> Caution | None:
    match found.missing:
        case NoDecision.NO_SCORES:
            logged = (
                "This run was logged as a finished matrix"
                if found.run.source is not SourceOrientation.PREDICTIONS
                else "Only predicted classes were logged"
            )
            return Caution(
                "There are no scores to decide from.",
                f"{logged}. Log a score for each prediction, y_score=: the probability of the "
                "positive class, or one column for each class in label order.",
            )
        case NoDecision.NOT_DRAWN | NoDecision.NO_SAMPLES | NoDecision.COUNTED:
            return _ALWAYS_SAID[found.missing]
        case NoDecision.NO_PROBABILITIES:
            problem = (found.problem or "").rstrip(".")
            return Caution(
                "These scores cannot be weighed with costs.",
                f"{problem[:1].upper()}{problem[1:]}. The prediction with the lowest "
                "expected cost needs a probability for each class, adding up to 1: log them after "
                "a softmax or a calibration.",
            )
        case NoDecision.TOO_MANY:
            return Caution(
                "There are too many scores for a page.",
                f"offdiag cost decide {found.run.id} takes the time it needs, and with --save-as "
                "stores the predictions as a run.",
            )
        case None:
            return None
