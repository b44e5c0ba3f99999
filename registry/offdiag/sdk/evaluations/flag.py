"""Flags: findings of rules that a reader of an evaluation should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from offdiag.extras import optional
from offdiag.flags.assessment import BADGE_RULES
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Certainty, Verdict, certainty_of
from offdiag.flags.warning import RaisedFlag
from offdiag.metrics.counted import Counted
from offdiag.sdk.display.evaluation_text import flag_lines

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Flag:
    """A flag that a rule raised on an evaluation.

    * `rule`, `severity`: the id of the rule, and how severe the flag is.
    * `class_label`: the class concerned; None for the run as a whole.
    * `message`: the sentence with the numbers that decide.
    * `evidence`: these numbers as plain values.
    * `certainty`: "in_sight" if F4 neither proves a large gap nor rules it out, else "proved".
    * `state`: "open" unless the flag of a stored run was triaged.
    * `slice`: the slice concerned; None for all samples.
    """

    rule: str
    severity: str
    class_label: str | None
    message: str
    evidence: Mapping[str, Any]
    state: str = FlagState.OPEN.value
    slice: str | None = None

    @property
    def certainty(self) -> str:
        """ "proved" or "in_sight"."""
        return certainty_of(self.evidence).value

    @property
    def in_warning(self) -> bool:
        """Whether the flag is part of the hidden-minority warning."""
        is_minority = self.rule == "F4" and bool(self.evidence.get("is_minority"))
        return self.rule in BADGE_RULES or is_minority

    @property
    def raised(self) -> RaisedFlag:
        """The flag in the form that the hidden-minority warning needs."""
        is_proved = self.certainty == Certainty.PROVED
        return RaisedFlag(self.rule, self.class_label, is_proved)

    def __repr__(self) -> str:
        state = "" if self.state == FlagState.OPEN else f", {self.state}"
        return f"Flag {self.rule}, {self.severity}{state}: {self.message}"

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> Flag:
        """The flag of a rule's verdict."""
        return cls(
            verdict.rule,
            verdict.severity.value,
            verdict.class_label,
            verdict.message,
            dict(verdict.evidence),
            slice=verdict.slice,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "certainty": self.certainty,
            "class_label": self.class_label,
            "slice": self.slice,
            "message": self.message,
            "evidence": dict(self.evidence),
            "state": self.state,
        }


class FlagList(list[Flag]):
    """Flags, most severe first; indexing, slices and loops work as for any list."""

    def __str__(self) -> str:
        return "\n".join(flag_lines(self)) or "No flags."

    __repr__ = __str__

    def to_frame(self) -> pd.DataFrame:
        """One row per flag: rule, severity, certainty, class_label, slice, message and state."""
        with optional:
            import pandas as pd

        columns = ("rule", "severity", "certainty", "class_label", "slice", "message", "state")
        rows = [[getattr(flag, name) for name in columns] for flag in self]
        return pd.DataFrame(rows, columns=list(columns))

    def _repr_html_(self) -> str:
        from offdiag.sdk.display.evaluation_card import flags_card

        return flags_card(self)


@dataclass(frozen=True)
class Judgement:
    """All flags of an evaluation, and the hidden-minority warning that follows from them.

    `badge` is the red warning, that accuracy hides a minority class, `may_hide` the amber one.
    """

    flags: tuple[Flag, ...]
    badge: bool
    may_hide: bool

    @classmethod
    def of_counted(cls, counted: Counted, thresholds: Thresholds | None = None) -> Judgement:
        """Evaluate the rules that need only what was counted; the most severe flags come first."""
        from offdiag.flags.assessment import assess

        found = assess(counted, thresholds)
        most_severe_first = sorted(found.verdicts, key=lambda verdict: -verdict.severity.rank)
        return cls(tuple(map(Flag.of_verdict, most_severe_first)), found.badge, found.may_hide)
