"""The verdict of a rule about a run: severity, message and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from offdiag.domain.values import reason_text


class Severity(StrEnum):
    """How severe a flag is: from information up to what should stop a release."""

    INFO = "info"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the least severe; StrEnum itself would compare by spelling."""
        return SEVERITIES.index(self)


SEVERITIES: tuple[Severity, ...] = tuple(Severity)
"""All severities, least severe first."""


Evidence = Mapping[str, float | int | str | bool | list[str] | None]
"""Plain numbers and labels by name, ready for JSON; None is an undefined value."""


CERTAINTY = "certainty"
"""Key of the evidence that says which of its two states a rule reports."""


class Certainty(StrEnum):
    """Whether a finding is confirmed. Only F4 has the second state."""

    PROVED = "proved"
    IN_SIGHT = "in_sight"
    """The class is worse than the rest; a difference as large as the threshold is possible, not
    confirmed."""


def certainty_of(evidence: Mapping[str, Any]) -> Certainty:
    """The state in the evidence; rules without states and older evidence count as proved."""
    return Certainty(evidence.get(CERTAINTY, Certainty.PROVED))


class Sign(StrEnum):
    """How a measured value is compared with its threshold."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"
    EQUAL = "="

    @property
    def reversed(self) -> Sign:
        """The sign between the negated sides: -x > -y is x < y."""
        return _REVERSED.get(self, self)


_REVERSED = {
    Sign.AT_LEAST: Sign.AT_MOST,
    Sign.ABOVE: Sign.BELOW,
    Sign.AT_MOST: Sign.AT_LEAST,
    Sign.BELOW: Sign.ABOVE,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a measured value with its threshold.

    `measured` is None if the value is undefined, and `reason` says why; `holds` is then how the
    rule counts it.
    """

    what: str
    measured: float | None
    sign: Sign
    threshold: float
    holds: bool
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        said = {} if self.reason is None else {"reason": self.reason}
        return {
            "what": self.what,
            "measured": self.measured,
            "sign": self.sign.value,
            "threshold": self.threshold,
            "holds": self.holds,
            **said,
        }


def why_undefined(what: str, reason: str | None, evidence: Mapping[str, Any]) -> str:
    """Why a condition has no measured value, in words.

    Flags raised before conditions had a `reason` have it in their evidence.
    """
    reason = reason or evidence.get(f"{what.lower()}_reason")
    return "undefined" if reason is None else f"undefined ({reason_text(reason)})"


@dataclass(frozen=True)
class Verdict:
    """A flag that a rule raises, for one class or (`class_label` None) for the run as a whole.

    `slice` is the canonical text of the slice it is about, None for all samples.

    `version` is that of the rule; it and the `thresholds` in force determine what was
    checked. `fired` lists every condition of the rule with its measured value.
    """

    rule: str
    version: int
    class_label: str | None
    severity: Severity
    message: str
    evidence: Evidence
    fired: tuple[Condition, ...]
    thresholds: Mapping[str, float]
    slice: str | None = None

    @property
    def certainty(self) -> Certainty:
        return certainty_of(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "rule": self.rule,
            "version": self.version,
            "class_label": self.class_label,
            "slice": self.slice,
            "severity": self.severity.value,
            "certainty": self.certainty.value,
            "message": self.message,
            "evidence": dict(self.evidence),
            "fired": [condition.to_dict() for condition in self.fired],
            "thresholds": dict(self.thresholds),
        }
