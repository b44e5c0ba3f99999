"""What a what-if question says: changed costs, the cost to vary, class shares, merged classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.break_even import Lever, lever_on_cell, lever_on_class
from offdiag.metrics.costs.edits import (
    CostEdits,
    Groups,
    code_of,
    forgiven,
    read_edits,
    read_groups,
)
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.costs.what_if import completed, read_shares
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.services.what_if.runs import BaseCosts, Question

_ALL = "*"
RUN_AXIS = 0


@dataclass(frozen=True)
class Scenario:
    """A parsed question.

    `costs` are the base with all changes; `effective` additionally treats as correct what need not
    be distinguished. `prevalence` (K,) completes the stated `shares`. `lever` is None if no cost
    can be moved. `problems` are parts of the question that have no meaning, with the reason.
    """

    base: BaseCosts
    edits: CostEdits
    costs: CostMatrix
    effective: CostMatrix
    shares: Mapping[int, float]
    prevalence: NDArray[np.float64] | None
    groups: Groups
    lever: Lever | None
    lever_is_stated: bool
    problems: tuple[str, ...]


def understand(
    question: Question, base: BaseCosts, matrices: Sequence[ConfusionMatrix]
) -> Scenario:
    """Parse a question about runs with these matrices, which have the same labels."""
    labels = base.costs.labels
    changed = read_edits(question.edits, base.costs)
    grouped = read_groups(question.merged, labels)
    stated = read_shares(question.shares, labels)
    problems = [
        *_said("set", changed.problems),
        *_said("merge", grouped.problems),
        *_said("share", stated.problems),
    ]
    edits, costs = _checked(changed.edits, base.costs, problems)
    prevalence = completed(stated.shares, matrices[0])
    if isinstance(prevalence, str):
        problems.append(f"The class shares cannot be used: {prevalence}.")
        prevalence = None
    effective = forgiven(costs, grouped.groups)
    lever = stated_lever(question.lever, effective, base.costs)
    if question.lever and lever is None:
        problems.append(f"“{question.lever}” names no cost that can be moved.")
    return Scenario(
        base=base,
        edits=edits,
        costs=costs,
        effective=effective,
        shares={} if prevalence is None else stated.shares,
        prevalence=prevalence,
        groups=grouped.groups,
        lever=lever or _decisive_lever(effective, matrices),
        lever_is_stated=lever is not None,
        problems=tuple(problems),
    )


def _said(where: str, problems: Iterable[tuple[str, str]]) -> list[str]:
    return [f"“{part}” in {where}= cannot be used: {reason}." for part, reason in problems]


def _checked(
    edits: CostEdits, base: CostMatrix, problems: list[str]
) -> tuple[CostEdits, CostMatrix]:
    """The changed costs, or the base if the changes lead to unusable costs."""
    if not edits:
        return edits, base
    changed = edits.applied(base)
    try:
        return edits, cost_matrix(changed.weights, labels=base.labels, currency=base.currency)
    except InvalidInput as error:
        problems.append(f"The changes cannot be used: {error.message}")
        return CostEdits(), base


def stated_lever(text: str, costs: CostMatrix, saved: CostMatrix) -> Lever | None:
    """The lever `actual>predicted` or `actual>*`; the latter is relative to the `saved` costs."""
    actual_name, arrow, predicted_name = _parted(text)
    actual = code_of(actual_name, costs.labels)
    if not arrow or actual is None:
        return None
    if predicted_name == _ALL:
        return lever_on_class(actual, now=_times_saved(actual, costs, saved))
    predicted = code_of(predicted_name, costs.labels)
    return None if predicted is None else lever_on_cell(costs, actual, predicted)


def _times_saved(actual: int, costs: CostMatrix, saved: CostMatrix) -> float:
    """The factor between the saved and current costs of all errors on a class; 1 if it varies."""
    is_error = np.arange(costs.n_classes) != actual
    before, now = saved.weights[actual, is_error], costs.weights[actual, is_error]
    if (before <= 0).any() or now[0] <= 0:
        return 1.0
    times = float(now[0] / before[0])
    return times if np.allclose(now, before * times, rtol=1e-12) else 1.0


def moved_cells(lever: Lever, saved: CostMatrix, x: float) -> dict[tuple[int, int], float]:
    """The costs set by a lever at x."""
    if lever.predicted is not None:
        return {(lever.actual, lever.predicted): x * lever.unit}
    return {
        (lever.actual, predicted): x * float(saved.weights[lever.actual, predicted])
        for predicted in range(saved.n_classes)
        if predicted != lever.actual
    }


def _parted(text: str) -> tuple[str, str, str]:
    """A text split at its first arrow outside quotes."""
    is_inside = False
    for place, character in enumerate(text):
        if character == '"' and text[place - 1 : place] != "\\":
            is_inside = not is_inside
        if character == ">" and not is_inside:
            return text[:place].strip(), character, text[place + 1 :].strip()
    return text.strip(), "", ""


def _decisive_lever(costs: CostMatrix, matrices: Sequence[ConfusionMatrix]) -> Lever | None:
    """The most expensive error; in a tie, the one in which the rates of the runs differ most."""
    rates = np.stack(
        [
            matrix.counts / np.expand_dims(np.maximum(matrix.actual, 1), PREDICTED_AXIS)
            for matrix in matrices
        ],
        axis=RUN_AXIS,
    )
    spread = np.ptp(rates, axis=RUN_AXIS)
    occurring = np.argwhere(rates.any(axis=RUN_AXIS))
    by_cost = sorted(
        ((int(actual), int(predicted)) for actual, predicted in occurring),
        key=lambda cell: (-costs.weights[cell], -spread[cell], cell),
    )
    levers = (lever_on_cell(costs, *cell) for cell in by_cost)
    return next((lever for lever in levers if lever is not None), None)
