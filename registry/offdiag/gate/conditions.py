"""What can be asked of a run: a bound on a number, or that nothing is flagged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
