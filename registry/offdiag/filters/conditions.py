"""Conditions on runs, as values: built by a parser, turned into SQL by the store.

Every field that can be asked for is named here; nothing is looked up by attribute name. A run
that has no such value (no such tag, an undefined metric, not evaluated yet) fulfils no
comparison with it, `!=` neither; only `not` turns that round.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from offdiag.domain.runs import Scalar


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
    """Text with `%` for any characters and `_` for one, in either case."""

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
    """What every run has."""

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
    """How many of its flags nobody has settled."""
    BADGE = "badge"
    """Whether its accuracy hides a minority class; absent where that cannot be judged."""
    MAY_HIDE = "may_hide"
    """Whether its accuracy may hide one: a large gap is in sight, none is proved."""
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


@dataclass(frozen=True, slots=True)
class MetricField:
    """A metric of the current evaluation: of the whole matrix, or of one class."""

    key: str
    class_label: str | None = None


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
    """Something every run has."""

    attribute: Attribute


Field = MetricField | ParamField | TagField | AttributeField
Operand = Scalar | datetime


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field against one value; against several where the operator is IN."""

    field: Field
    operator: Operator
    operands: tuple[Operand, ...]

    @property
    def operand(self) -> Operand:
        """The value of any operator but IN."""
        return self.operands[0]


@dataclass(frozen=True, slots=True)
class Not:
    """Holds for a run exactly where the condition inside does not."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every condition holds; without any, all runs are meant."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds."""

    conditions: tuple[Condition, ...]


Condition = Comparison | Not | AllOf | AnyOf

EVERYTHING = AllOf(())


@dataclass(frozen=True, slots=True)
class Ordering:
    """What a search is sorted by. Runs without the value come last in both directions."""

    field: Field
    descending: bool = False
