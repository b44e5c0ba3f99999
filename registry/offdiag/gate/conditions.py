"""What can be asked of a run, and the numbers, flags and differences it is asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.flags.verdict import Sign


class Side(StrEnum):
    """Which number of a metric is compared."""

    VALUE = "value"
    LOW = "low"
    """The lower end of its interval."""
    HIGH = "high"
    """The upper end of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCondition:
    """A metric, or its difference to the baseline, compared with a number.

    `text` is the condition as it was written. `class_label` is None for metrics of the whole
    matrix. The difference is that of the run minus that of the baseline.
    """

    text: str
    key: str
    class_label: str | None
    side: Side
    of_difference: bool
    sign: Sign
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFlag:
    """A rule has nothing to say, about one class or (`class_label` None) about any.

    What F4 has in sight without proof counts only where `even_possible`.
    """

    text: str
    rule: str
    class_label: str | None
    even_possible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBadge:
    """Accuracy does not hide a minority class, nor (`even_possible`) may it hide one."""

    text: str
    even_possible: bool = False


Condition = MetricCondition | NoFlag | NoBadge


@dataclass(frozen=True)
class MetricValues:
    """Values by key: of the whole matrix, of each class in label order, and of the costs.

    `costs` is None where nobody gave a cost matrix.
    """

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]
    costs: Mapping[str, MetricValue] | None = None


@dataclass(frozen=True, slots=True)
class RaisedFlag:
    """A rule that has something to say about the run, or about one class of it.

    `is_proved` is False for what F4 has in sight without proof.
    """

    rule: str
    class_label: str | None
    message: str
    is_proved: bool = True


@dataclass(frozen=True)
class Differences:
    """The run's values minus the baseline's, with intervals where cases could be paired.

    `not_paired` is None, or why the cases of the two runs could not be paired.
    """

    values: MetricValues
    not_paired: str | None = None


@dataclass(frozen=True)
class Subject:
    """A run as conditions see it.

    `asked` are the rules for which there was enough to look at; `not_assessable` is None, or
    why the rules about the matrix could say nothing, which proves nothing. `accepted` are flags
    that somebody dismissed with a reason.
    """

    labels: LabelSet
    values: MetricValues
    asked: frozenset[str]
    flags: tuple[RaisedFlag, ...] = ()
    accepted: tuple[RaisedFlag, ...] = ()
    hides_minority: bool = False
    may_hide_minority: bool = False
    not_assessable: str | None = None
    differences: Differences | None = None
