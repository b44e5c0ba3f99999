"""What an evaluation says that a person should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Verdict, certainty_of
from offdiag.metrics.counted import Counted


@dataclass(frozen=True, slots=True)
class Flag:
    """A rule that fires: which, how grave, about which class, in which words, on what evidence.

    `class_label` is None for rules about the run as a whole. `certainty` is "in_sight" where F4
    neither proves a large gap nor rules it out, else "proved". `state` is "open" unless somebody
    has settled the flag of a stored run.
    """

    rule: str
    severity: str
    class_label: str | None
    message: str
    evidence: Mapping[str, Any]
    state: str = FlagState.OPEN.value

    @property
    def certainty(self) -> str:
        return certainty_of(self.evidence).value

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> Flag:
        """What a rule has just said."""
        return cls(
            verdict.rule,
            verdict.severity.value,
            verdict.class_label,
            verdict.message,
            dict(verdict.evidence),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "certainty": self.certainty,
            "class_label": self.class_label,
            "message": self.message,
            "evidence": dict(self.evidence),
            "state": self.state,
        }


@dataclass(frozen=True)
class Judgement:
    """All flags of an evaluation, and the headline badge they add up to.

    `badge` is the red one, that accuracy hides a minority class, `may_hide` the amber one.
    """

    flags: tuple[Flag, ...]
    badge: bool
    may_hide: bool

    @classmethod
    def of_counted(cls, counted: Counted, thresholds: Thresholds | None = None) -> Judgement:
        """Ask the rules that need only what was counted; the gravest flags first."""
        from offdiag.flags.assessment import assess_counted

        found = assess_counted(counted, thresholds)
        gravest_first = sorted(found.verdicts, key=lambda verdict: -verdict.severity.rank)
        return cls(tuple(map(Flag.of_verdict, gravest_first)), found.badge, found.may_hide)
