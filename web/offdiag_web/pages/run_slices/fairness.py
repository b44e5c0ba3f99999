"""Fairness between the groups of a slice column, for one class and on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.errors import OffdiagError
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.records.base import Value
from offdiag.records.fairness import Fairness, FairnessOfClass, fairness_document
from offdiag.services.groups.fairness import fairness_of_run
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """How far the groups are apart by one criterion."""

    name: str
    difference: str
    ratio: str


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The rates of one group, each with its interval."""

    name: str
    n: str
    rates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FairnessView:
    """The columns that can be asked about, and what was found by one of them.

    `refused` says why nothing was; without a question both are empty.
    """

    columns: tuple[str, ...]
    by: str = ""
    label: str = ""
    criteria: tuple[CriterionLine, ...] = ()
    rate_names: tuple[str, ...] = ()
    groups: tuple[GroupLine, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


def fairness_view(run_id: str, columns: Sequence[str], by: str, label: str) -> FairnessView:
    """The criteria for a class between the groups of a column; only the columns without one."""
    names = tuple(columns)
    if by not in names:
        return FairnessView(names)
    try:
        found = fairness_document(
            fairness_of_run(current_registry().database, run_id, by, class_label=label)
        )
    except OffdiagError as error:
        return FairnessView(
            names, by, label, refused=f"{error.message} {error.hint or ''}".strip()
        )
    if not found.classes:
        return FairnessView(names, by, label, refused=" ".join(found.left_out()))
    return _presented(names, found, found.classes[0])


def _presented(columns: tuple[str, ...], found: Fairness, of: FairnessOfClass) -> FairnessView:
    specs = CATALOGUE[Scope.PER_CLASS]
    return FairnessView(
        columns,
        found.by,
        of.class_label,
        criteria=tuple(
            CriterionLine(
                each.criterion.name_in_words.capitalize(),
                _text(each.difference),
                _text(each.ratio),
            )
            for each in of.criteria
        ),
        rate_names=tuple(specs[key].title for key in of.rates),
        groups=tuple(
            GroupLine(
                name, numbers.count(n), tuple(_text(each[name]) for each in of.rates.values())
            )
            for name, n in found.groups.items()
        ),
        notes=(*([of.conflict] if of.conflict else []), *found.left_out(), found.leaves_out),
    )


def _text(value: Value) -> str:
    """ "0.233 (0.005 – 0.427)"; the reason where it is undefined."""
    if value.value is None:
        return f"undefined ({(value.reason or '').replace('_', ' ')})"
    if value.ci_low is None or value.ci_high is None:
        return numbers.metric(value.value)
    return f"{numbers.metric(value.value)} ({numbers.interval(value.ci_low, value.ci_high)})"
