"""Conditions of a filter on runs, as values: built by a parser, turned into SQL by the store.

Every field that can be queried is named here; nothing is looked up by attribute name. A run
that lacks the value (no such tag, an undefined metric, not evaluated yet) satisfies no
comparison with it, not even `!=`; only `not` reverses that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any

from offdiag.domain.runs import Scalar
from offdiag.domain.slices import Slice, column_text, slice_text
from offdiag.domain.values import ROUNDING


class Operator(StrEnum):
    """How a value is compared."""

    EQUAL = "="
    UNEQUAL = "!="
    GREATER = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="
    IN = "in"
    LIKE = "like"
    """Text with `%` for any characters and `_` for one, ignoring the case of A to Z."""

    @property
    def reversed(self) -> Operator:
        """The operator between the negated sides: -x > -y is x < y."""
        return _REVERSED.get(self, self)


_REVERSED = {
    Operator.GREATER: Operator.LESS,
    Operator.LESS: Operator.GREATER,
    Operator.AT_LEAST: Operator.AT_MOST,
    Operator.AT_MOST: Operator.AT_LEAST,
}


class Attribute(StrEnum):
    """An attribute that every run has."""

    ID = "id"
    NAME = "name"
    MODEL = "model"
    PROJECT = "project"
    DATASET = "dataset"
    STATE = "state"
    AUTHOR = "author"
    GIT_SHA = "git_sha"
    CREATED_AT = "created_at"
    FINISHED_AT = "finished_at"
    N_PREDICTIONS = "n_predictions"
    TRUTH_VERSION = "truth_version"
    OPEN_FLAGS = "open_flags"
    """How many of its flags have not been triaged."""
    BADGE = "badge"
    """Whether its accuracy hides a minority class; absent if that cannot be judged."""
    MAY_HIDE = "may_hide"
    """Whether its accuracy may hide one: a large gap is in sight, but none is proved."""
    LOWEST_RECALL = "lowest_recall"
    """The lowest recall of a class that has examples."""


TIMES = frozenset({Attribute.CREATED_AT, Attribute.FINISHED_AT})
YES_OR_NO = frozenset({Attribute.BADGE, Attribute.MAY_HIDE})
NUMBERS = frozenset(
    {
        Attribute.N_PREDICTIONS,
        Attribute.TRUTH_VERSION,
        Attribute.OPEN_FLAGS,
        Attribute.LOWEST_RECALL,
    }
)


class Side(StrEnum):
    """Which number of a metric is compared."""

    VALUE = "value"
    LOW = "low"
    """The lower end of its interval."""
    HIGH = "high"
    """The upper end of its interval."""

    @property
    def reversed(self) -> Side:
        """The number to use instead if the metric is negated."""
        return {Side.LOW: Side.HIGH, Side.HIGH: Side.LOW}.get(self, self)


class Over(StrEnum):
    """How the values of a metric in all groups of a column are combined."""

    WORST = "worst"
    """The lowest value, or the highest for a metric for which lower is better."""
    GAP = "gap"
    """The highest value minus the lowest."""


def _label_text(label: str) -> str:
    """The label as it is if it is a word, else in quotes."""
    if re.fullmatch(r"[^\W\d][\w-]*|\d+", label):
        return label
    doubled = label.replace('"', '""')
    return f'"{doubled}"'


@dataclass(frozen=True, slots=True)
class MetricField:
    """A metric of the current evaluation, for the whole matrix or for one class.

    `part` is the slice that is meant, None for all samples; with `over`, all groups of the slice
    column `by` are.
    """

    key: str
    class_label: str | None = None
    side: Side = Side.VALUE
    part: Slice | None = None
    over: Over | None = None
    by: str | None = None

    def __str__(self) -> str:
        """The metric as written in a condition: `low(recall["a"]@site=z)`."""
        label = "" if self.class_label is None else f"[{_label_text(self.class_label)}]"
        text = f"{self.key}{label}"
        if self.part is not None:
            text = f"{text}@{slice_text(self.part)}"
        if self.over is not None:
            text = f"{self.over}({text}, by={column_text(self.by or '')})"
        return text if self.side is Side.VALUE else f"{self.side}({text})"

    @property
    def is_of_slices(self) -> bool:
        """Whether it is about slices, for which no single row has the value."""
        return self.part is not None or self.over is not None


@dataclass(frozen=True, slots=True)
class ParamField:
    """A parameter the run was logged with."""

    name: str


@dataclass(frozen=True, slots=True)
class TagField:
    """A tag of the run."""

    name: str


@dataclass(frozen=True, slots=True)
class AttributeField:
    """An attribute that every run has."""

    attribute: Attribute


Field = MetricField | ParamField | TagField | AttributeField
Operand = Scalar | datetime


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field compared with one value, or with several if the operator is IN."""

    field: Field
    operator: Operator
    operands: tuple[Operand, ...]

    @property
    def operand(self) -> Operand:
        """The value of any operator but IN."""
        return self.operands[0]


def compare_metric(value: Any, comparison: Comparison) -> Any:
    """Whether a comparison with numbers holds for a value, or for a column of values in SQL.

    Values within rounding of a number are equal to it, as in gates: the mean of 0.8 and 0.14 is
    0.47, although the floats say 0.47000000000000003.
    """
    bounds = [_within_rounding(each) for each in comparison.operands]
    least, most = bounds[0]
    match comparison.operator:
        case Operator.GREATER:
            return value > most
        case Operator.AT_LEAST:
            return value >= least
        case Operator.LESS:
            return value < least
        case Operator.AT_MOST:
            return value <= most
        case Operator.UNEQUAL:
            return (value < least) | (value > most)
        case _:
            return reduce(or_, ((value >= low) & (value <= high) for low, high in bounds))


def _within_rounding(number: Any) -> tuple[float, float]:
    reach = ROUNDING * (1 + abs(number))
    return number - reach, number + reach


@dataclass(frozen=True, slots=True)
class Not:
    """Holds for a run exactly if the condition inside does not."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every condition holds; without conditions, this is true for all runs."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds."""

    conditions: tuple[Condition, ...]


Condition = Comparison | Not | AllOf | AnyOf

EVERYTHING = AllOf(())


def slices_asked_for(condition: Condition) -> tuple[MetricField, ...]:
    """The metrics of slices in a condition, without ends of intervals."""
    match condition:
        case AllOf(conditions) | AnyOf(conditions):
            found = [field for each in conditions for field in slices_asked_for(each)]
        case Not(inner):
            return slices_asked_for(inner)
        case Comparison(field=MetricField() as field) if field.is_of_slices:
            found = [replace(field, side=Side.VALUE)]
        case _:
            return ()
    return tuple(dict.fromkeys(found))


def apart_from_slices(condition: Condition) -> Condition:
    """The condition, assuming that its parts about slices hold for every run."""
    match condition:
        case AllOf(conditions):
            return AllOf(tuple(apart_from_slices(each) for each in conditions))
        case AnyOf(conditions):
            return AnyOf(tuple(apart_from_slices(each) for each in conditions))
        case _:
            return EVERYTHING if slices_asked_for(condition) else condition


def wanted_text(condition: Condition, attribute: Attribute) -> str | None:
    """The text that an attribute of every matching run must equal, None if any text will do."""
    match condition:
        case AllOf(conditions):
            found = (wanted_text(each, attribute) for each in conditions)
            return next((each for each in found if each is not None), None)
        case Comparison(AttributeField(name), Operator.EQUAL, (str(text),)) if name is attribute:
            return text
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Ordering:
    """The field by which a search is sorted. Runs without it come last in both directions."""

    field: Field
    descending: bool = False

    @property
    def is_by_metric(self) -> bool:
        """Whether it sorts by values that are not comparable between weighted and other runs."""
        lowest_recall = AttributeField(Attribute.LOWEST_RECALL)
        return isinstance(self.field, MetricField) or self.field == lowest_recall
