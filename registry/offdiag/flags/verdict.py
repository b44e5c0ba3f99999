"""What a rule says about a run: how severe it is, in which words, on what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """From what is good to know to what should stop a release."""

    INFO = "info"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the mildest; StrEnum itself would compare by spelling."""
        return SEVERITIES.index(self)


SEVERITIES: tuple[Severity, ...] = tuple(Severity)
"""All severities, mildest first."""


Evidence = Mapping[str, float | int | str | bool | list[str] | None]
"""Plain numbers and labels by name, ready for JSON; None is an undefined value."""


CERTAINTY = "certainty"
"""Where the evidence of a rule with two states says which one it is."""


class Certainty(StrEnum):
    """How sure a rule is of what it says. Only F4 knows the second state."""

    PROVED = "proved"
    IN_SIGHT = "in_sight"
    """The class is worse than the rest, and a gap of the threshold is possible but not proved."""


def certainty_of(evidence: Mapping[str, Any]) -> Certainty:
    """The state that evidence belongs to; rules without states, and all of old, are sure."""
    return Certainty(evidence.get(CERTAINTY, Certainty.PROVED))


class Sign(StrEnum):
    """How a measured value is compared with its threshold."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison: what was measured, beside the threshold it was measured against.

    `measured` is None where the value is undefined; `holds` then says how the rule counts it.
    """

    what: str
    measured: float | None
    sign: Sign
    threshold: float
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "measured": self.measured,
            "sign": self.sign.value,
            "threshold": self.threshold,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Verdict:
    """A rule that fired, for one class or (`class_label` None) for the run as a whole.

    `version` is that of the rule; with `thresholds`, the settings in force, it says exactly
    what was asked. `fired` lists every condition of the rule with its measured value.
    """

    rule: str
    version: int
    class_label: str | None
    severity: Severity
    message: str
    evidence: Evidence
    fired: tuple[Condition, ...]
    thresholds: Mapping[str, float]

    @property
    def certainty(self) -> Certainty:
        return certainty_of(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "rule": self.rule,
            "version": self.version,
            "class_label": self.class_label,
            "severity": self.severity.value,
            "certainty": self.certainty.value,
            "message": self.message,
            "evidence": dict(self.evidence),
            "fired": [condition.to_dict() for condition in self.fired],
            "thresholds": dict(self.thresholds),
        }


def percent(share: float) -> str:
    """A share as a percentage with one decimal: 0.4 -> "40.0 %"."""
    return f"{100 * share:.1f} %"


def whole_percent(share: float) -> str:
    """A share as a percentage without decimals: 0.402 -> "40 %"."""
    return f"{100 * share:.0f} %"


def points(difference: float) -> str:
    """A difference of two shares in percentage points: 0.2 -> "20 points"."""
    return f"{100 * difference:.3g} points"


def p_value(p: float) -> str:
    """A p value as papers report it: two significant digits, from 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def chance(probability: float) -> str:
    """A probability with two significant digits; tiny ones as a power of ten."""
    return f"{probability:.2g}"


def number_of(count: float, noun: str) -> str:
    """A count with its noun: "1 case", "12 cases"."""
    return f"{count:,.0f} {noun}" if count == 1 else f"{count:,.0f} {noun}s"


def amount(cost: float) -> str:
    """A cost without more digits than it carries information."""
    return f"{cost:,.10g}"
