"""What predictions with the lowest expected cost change, by class and by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.services.decisions.thresholds import Change, ClassChange
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, class_order
from offdiag_web.components.costs.ranking import PER
from offdiag_web.components.numbers import MINUS, Amounts, Notes, ShownValue, amounts_for, shown
from offdiag_web.pages.decisions.thresholds import (
    cost_text,
    difference_text,
    interval_text,
    outcome_text,
)

LARGEST_TABLES = 20
"""Up to this many classes both matrices are shown as tables."""
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
    """Cases of one class whose answer changes from one class to another."""

    actual: str
    before: str
    after: str
    cases: str
    cost: str


@dataclass(frozen=True, slots=True)
class SmallMatrix:
    """Counts with the rows and columns in one order; `right` cells lie on the diagonal."""

    title: str
    heads: tuple[ClassHead, ...]
    lines: tuple[tuple[ClassHead, tuple[tuple[str, bool], ...]], ...]


@dataclass(frozen=True, slots=True)
class ChangedPredictionsView:
    """Both costs with their difference, and where it comes from."""

    sentences: tuple[str, ...]
    recalls: tuple[RecallLine, ...]
    n_left_out: int
    moves: tuple[Move, ...]
    moves_note: str
    matrices: tuple[SmallMatrix, ...]
    turned_heads: bool
    notes: tuple[str, ...]
    note: str


def changed_predictions_view(found: Change, costs: CostMatrix) -> ChangedPredictionsView:
    """Present what changes; `costs` weigh the cases as they are expected at deployment."""
    notes = Notes()
    means = [value.value for value in (found.before, found.after) if value.value is not None]
    amounts = amounts_for(abs(mean) * PER for mean in means)
    order = class_order(found.joint.first_matrix, None)
    has_tables = len(order) <= LARGEST_TABLES
    moves = _moves(found, costs)
    return ChangedPredictionsView(
        sentences=_sentences(found, amounts),
        recalls=tuple(_recall(found.classes[code], notes) for code in order[:MOST_CLASSES]),
        n_left_out=max(len(order) - MOST_CLASSES, 0),
        moves=moves[:MOST_MOVES],
        moves_note=f"The {MOST_MOVES} that change most, of {numbers.count(len(moves))}."
        if len(moves) > MOST_MOVES
        else "",
        matrices=(
            _matrix("Before", found.joint.first_matrix, order),
            _matrix("After", found.joint.second_matrix, order),
        )
        if has_tables
        else (),
        turned_heads=len(order) > LARGEST_TABLES // 2,
        notes=tuple(notes.texts),
        note="" if found.after.ci_method is None else f"Intervals: {found.after.ci_method}.",
    )


def _sentences(found: Change, amounts: Amounts) -> tuple[str, ...]:
    if found.before.value is None or found.after.value is None:
        return ("No cost is defined: a class that is expected has no examples.",)
    after = interval_text(found.after, amounts)
    before = interval_text(found.before, amounts)
    joint = found.joint
    n_changed = int(joint.counts[joint.first != joint.second].sum())
    in_use = (
        f"The predictions of the run cost {cost_text(found.before.value, amounts)} per 1,000"
        f"{f' (95 % CI {before})' if before else ''}, those with the lowest expected cost "
        f"{cost_text(found.after.value, amounts)}{f' ({after})' if after else ''}."
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
        interval = f"{_points(together.low)} to {_points(together.high)}"
    if change.is_significant:
        outcome = "rises" if (gap.value or 0.0) > 0 else "falls"
    return RecallLine(
        change.label,
        numbers.count(change.support),
        shown(change.before, notes),
        shown(change.after, notes),
        "" if gap.value is None else f"{_points(gap.value)} pp",
        interval,
        outcome,
    )


def _points(share: float) -> str:
    """A difference of shares in percentage points: "+3.2", "−0.4", "0.0"."""
    text = f"{100 * share + 0.0:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", MINUS)


def _moves(found: Change, costs: CostMatrix) -> tuple[Move, ...]:
    """Changed answers, those first whose costs change most."""
    joint, names = found.joint, costs.labels.names
    changed = np.flatnonzero(joint.first != joint.second)
    actual, first, second = (side[changed] for side in (joint.actual, joint.first, joint.second))
    counts = joint.counts[changed]
    gaps = (costs.weights[actual, second] - costs.weights[actual, first]) * counts
    per = gaps / max(joint.total, 1) * PER
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


def _matrix(title: str, matrix: ConfusionMatrix, order: list[int]) -> SmallMatrix:
    heads = tuple(class_head(matrix.labels.names[code]) for code in order)
    counts = matrix.counts.tolist()
    return SmallMatrix(
        title,
        heads,
        tuple(
            (
                head,
                tuple((numbers.count(counts[code][other]), code == other) for other in order),
            )
            for head, code in zip(heads, order, strict=True)
        ),
    )
