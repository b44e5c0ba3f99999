"""The page of decisions, and what other decisions change, by class and by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from flask import render_template

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.sentences import as_sentence, typeset
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.decisions import at_deployment
from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.metric_text import PER_CASES, points, points_alone
from offdiag.services.decisions.rules import Decisions, NoDecision
from offdiag.services.decisions.thresholds import Change, ClassChange
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_head, class_order
from offdiag_web.components.controls import Caution, Segment
from offdiag_web.components.costs.form import base_segments, base_text, share_fields
from offdiag_web.components.costs.ranking import interval_text
from offdiag_web.components.metric_values import LOG_SCORES, Notes, ShownValue, shown
from offdiag_web.pages.decisions.thresholds import (
    amount_text,
    difference_text,
    outcome_text,
    threshold_view,
)
from offdiag_web.urls.costs import CostsAddress, WhatIfAddress
from offdiag_web.urls.run import run_url

LONGEST_NAME = 500


def decisions_view(
    found: Decisions, address: WhatIfAddress, typed: Mapping[str, str], refusal: str = ""
) -> str:
    """Present decisions with their canonical address, or with a refused form as it was typed."""
    run, scenario = found.run, found.scenario
    record = scenario.base.record
    order = class_order(run.matrix, None)
    return render_template(
        "decisions/page.html",
        run_id=run.id,
        run_name=run.name,
        run_url=run_url(run.id),
        subtitle=_subtitle(found),
        address=address,
        what_if_url=replace(address, runs=(run.id,)).url(),
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
        refusal=refusal,
        typed=typed,
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
        save_name=typed.get("name", _save_name(found)),
        derived=tuple((each.id, each.name, run_url(each.id)) for each in found.derived),
    )


def _subtitle(found: Decisions) -> str:
    run = found.run
    version = "" if run.truth is None else f" v{run.truth.number}"
    return (
        f"{run.dataset}{version} · {numbers.plural(run.matrix.total, 'example')} · "
        f"{numbers.plural(run.matrix.n_classes, 'class', 'classes')}"
    )


def _sides(found: Decisions, address: WhatIfAddress) -> tuple[Segment, ...]:
    """The choice of the flagged class, if the dataset leaves it open."""
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
        "Thresholds have not been computed yet.",
        "These results are older than stored curves. A worker adds them automatically; "
        "offdiag recompute adds them at once.",
    ),
    NoDecision.NO_SAMPLES: Caution(
        "No example has a label yet.", "Costs can be computed once labels arrive."
    ),
    NoDecision.COUNTED: Caution(
        "The scores of each class were counted separately.",
        "Decisions by expected cost need all scores of an example: log the predictions.",
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
            return Caution(
                "These scores cannot be combined with costs.",
                f"{as_sentence((found.problem or '').rstrip('.'))} The prediction with the lowest "
                "expected cost needs a probability for each class, adding up to 1: log them after "
                "a softmax or a calibration.",
            )
        case NoDecision.TOO_MANY:
            return Caution(
                "There are too many scores for this page.",
                f"Use offdiag cost decide {found.run.id}; with --save-as it stores the "
                "predictions as a run.",
            )
        case None:
            return None


LARGEST_TABLES = 20
"""Most classes for which both matrices are shown as tables."""
MOST_MOVES = 20
MOST_CLASSES = 200
_CAVEAT = (
    "Nothing was fitted to these examples, so the cost is not optimistic; it is minimal only if "
    "the scores are calibrated."
)


@dataclass(frozen=True, slots=True)
class RecallLine:
    """The recall of one class before and after."""

    label: str
    cases: str
    before: ShownValue
    after: ShownValue
    difference: str
    interval: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Move:
    """Samples of one actual class whose prediction changes from one class to another."""

    actual: str
    before: str
    after: str
    cases: str
    cost: str


def changed_predictions_view(found: Change, costs: CostMatrix) -> dict[str, object]:
    """Present what changes; `costs` weight the samples as expected at deployment."""
    notes = Notes()
    means = [value.value for value in (found.before, found.after) if value.value is not None]
    amounts = amounts_for(abs(mean) * PER_CASES for mean in means)
    order = class_order(found.joint.first_matrix, None)
    has_tables = len(order) <= LARGEST_TABLES
    moves = _moves(found, costs)
    return {
        "sentences": _sentences(found, amounts),
        "recalls": tuple(_recall(found.classes[code], notes) for code in order[:MOST_CLASSES]),
        "n_left_out": max(len(order) - MOST_CLASSES, 0),
        "moves": moves[:MOST_MOVES],
        "moves_note": (
            f"The {MOST_MOVES} that change most, of {numbers.count(len(moves))}."
            if len(moves) > MOST_MOVES
            else ""
        ),
        "matrices": (
            (
                _matrix("Before", found.joint.first_matrix, order),
                _matrix("After", found.joint.second_matrix, order),
            )
            if has_tables
            else ()
        ),
        "turned_heads": len(order) > LARGEST_TABLES // 2,
        "notes": tuple(notes.texts),
        "note": (
            ""
            if found.after.ci_method is None
            else f"Intervals: {typeset(found.after.ci_method)}."
        ),
    }


def _sentences(found: Change, amounts: Amounts) -> tuple[str, ...]:
    if found.before.value is None or found.after.value is None:
        return ("No cost is defined: a class that is expected has no examples.",)
    after = interval_text(found.after, amounts)
    before = interval_text(found.before, amounts)
    joint = found.joint
    n_changed = int(joint.counts[joint.first != joint.second].sum())
    in_use = (
        f"The predictions of the run cost {amount_text(found.before.value, amounts)} per 1,000"
        f"{f' (95 % CI {before})' if before else ''}, those with the lowest expected cost "
        f"{amount_text(found.after.value, amounts)}{f' ({after})' if after else ''}."
    )
    if not n_changed:
        return ("No prediction changes: those of the run have the lowest expected cost.", in_use)
    gap = difference_text(found.difference, amounts)
    return (
        f"{numbers.count(n_changed)} of {numbers.plural(joint.total, 'prediction')} change.",
        in_use,
        f"The change is {gap}. {outcome_text(found.difference)}",
        _CAVEAT,
    )


def _recall(change: ClassChange, notes: Notes) -> RecallLine:
    gap, together = change.difference, change.simultaneous
    interval = outcome = ""
    if together.low is not None and together.high is not None:
        interval = f"{points_alone(together.low)} to {points_alone(together.high)}"
    if change.is_significant:
        outcome = "rises" if (gap.value or 0.0) > 0 else "falls"
    return RecallLine(
        change.label,
        numbers.count(change.support),
        shown(change.before, notes),
        shown(change.after, notes),
        "" if gap.value is None else points(gap.value),
        interval,
        outcome,
    )


def _moves(found: Change, costs: CostMatrix) -> tuple[Move, ...]:
    """Changed predictions, those whose costs change most first."""
    joint, names = found.joint, costs.labels.names
    changed = np.flatnonzero(joint.first != joint.second)
    actual, first, second = (side[changed] for side in (joint.actual, joint.first, joint.second))
    counts = joint.counts[changed]
    gaps = (costs.weights[actual, second] - costs.weights[actual, first]) * counts
    per = gaps / max(joint.total, 1) * PER_CASES
    amounts = amounts_for(np.abs(per).tolist())
    order = np.lexsort((-counts, -np.abs(per)))
    return tuple(
        Move(
            names[int(actual[place])],
            names[int(first[place])],
            names[int(second[place])],
            numbers.count(int(counts[place])),
            amounts.signed(float(per[place])),
        )
        for place in order
    )


def _matrix(title: str, matrix: ConfusionMatrix, order: list[int]) -> dict[str, object]:
    heads = tuple(class_head(matrix.labels.names[code]) for code in order)
    counts = matrix.counts.tolist()
    return {
        "title": title,
        "heads": heads,
        "lines": tuple(
            (
                head,
                tuple((numbers.count(counts[code][other]), code == other) for other in order),
            )
            for head, code in zip(heads, order, strict=True)
        ),
    }
