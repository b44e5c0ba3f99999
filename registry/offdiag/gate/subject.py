"""What a gate looks at: the numbers of a run, its flags, and its differences to a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue


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
