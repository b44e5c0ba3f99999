"""What is asked: the costs to start from, changes to them, class shares, merged classes."""

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
from offdiag.metrics.costs.prevalence import completed, read_shares
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.services.what_if.reading import BaseCosts

_ALL = "*"
RUN_AXIS = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks about runs, as text. Empty text asks for nothing special.

    `costs` names the base, None for the default one of the dataset. `edits` are as in
    `offdiag.metrics.costs.edits`, `shares` as in `deployment`, `merged` as in `groups`. `lever`
    is `actual>predicted`, or `actual>*` for all errors on a class.
    """

    costs: str | None = None
    edits: str = ""
    lever: str = ""
    shares: str = ""
    merged: str = ""


@dataclass(frozen=True)
class Scenario:
    """A question that was understood.

    `costs` are the base with all changes; `effective` also price what need not be told apart
    as right. `prevalence` (K,) completes the stated `shares`. `lever` is None where no price
    can be moved. `problems` are parts of the question that mean nothing, with the reason.
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
    """Read a question about runs with these matrices, which share their labels."""
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
        problems.append(f"The class shares are ignored: {prevalence}.")
        prevalence = None
    effective = forgiven(costs, grouped.groups)
    lever = _stated_lever(question.lever, effective)
    if question.lever and lever is None:
        problems.append(f"“{question.lever}” names no price that can be moved.")
    return Scenario(
        base=base,
        edits=edits,
        costs=costs,
        effective=effective,
        shares={} if prevalence is None else stated.shares,
        prevalence=prevalence,
        groups=grouped.groups,
        lever=lever or _telling_lever(effective, matrices),
        lever_is_stated=lever is not None,
        problems=tuple(problems),
    )


def _said(where: str, problems: Iterable[tuple[str, str]]) -> list[str]:
    return [f"“{part}” in {where}= is ignored: {reason}." for part, reason in problems]


def _checked(
    edits: CostEdits, base: CostMatrix, problems: list[str]
) -> tuple[CostEdits, CostMatrix]:
    """The changed costs, or the base where the changes lead to no usable costs."""
    if not edits:
        return edits, base
    changed = edits.applied(base)
    try:
        return edits, cost_matrix(changed.weights, labels=base.labels, currency=base.currency)
    except InvalidInput as error:
        problems.append(f"The changes are ignored: {error.message}")
        return CostEdits(), base


def _stated_lever(text: str, costs: CostMatrix) -> Lever | None:
    actual_name, arrow, predicted_name = _parted(text)
    actual = code_of(actual_name, costs.labels)
    if not arrow or actual is None:
        return None
    if predicted_name == _ALL:
        return lever_on_class(actual)
    predicted = code_of(predicted_name, costs.labels)
    return None if predicted is None else lever_on_cell(costs, actual, predicted)


def _parted(text: str) -> tuple[str, str, str]:
    """A text parted at its first arrow outside of quotes."""
    is_inside = False
    for place, character in enumerate(text):
        if character == '"' and text[place - 1 : place] != "\\":
            is_inside = not is_inside
        if character == ">" and not is_inside:
            return text[:place].strip(), character, text[place + 1 :].strip()
    return text.strip(), "", ""


def _telling_lever(costs: CostMatrix, matrices: Sequence[ConfusionMatrix]) -> Lever | None:
    """The dearest error; of equally dear ones that in which the rates of the runs differ most."""
    rates = np.stack(
        [
            matrix.counts / np.expand_dims(np.maximum(matrix.actual, 1), PREDICTED_AXIS)
            for matrix in matrices
        ],
        axis=RUN_AXIS,
    )
    spread = np.ptp(rates, axis=RUN_AXIS)
    occurring = np.argwhere(rates.any(axis=RUN_AXIS))
    dearest = sorted(
        ((int(actual), int(predicted)) for actual, predicted in occurring),
        key=lambda cell: (-costs.weights[cell], -spread[cell], cell),
    )
    levers = (lever_on_cell(costs, *cell) for cell in dearest)
    return next((lever for lever in levers if lever is not None), None)
