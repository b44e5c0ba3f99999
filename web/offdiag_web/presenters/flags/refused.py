"""A decision that was not carried out: why, about which flags, and what had been typed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

from offdiag.errors import OffdiagError


@dataclass(frozen=True, slots=True)
class Typed:
    """What a reader typed, given back so that nobody has to type it twice."""

    action: str = ""
    until: str = ""
    reason: str = ""
    assignee: str = ""
    comment: str = ""

    @classmethod
    def of_form(cls, values: Mapping[str, str]) -> Typed:
        """The fields that a form sent."""
        return cls(**{each.name: values.get(each.name, "") for each in fields(cls)})


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was changed, in a headline and a way out; empty where nothing was refused."""

    headline: str = ""
    explanation: str = ""
    selected: Collection[int] = ()
    typed: Typed = Typed()

    @classmethod
    def because(
        cls, error: OffdiagError, values: Mapping[str, str], *, selected: Collection[int] = ()
    ) -> Refused:
        """What to show of a decision that ended with an error."""
        headline = f"Nothing was changed: {error.message}"
        hint = (error.hint or "").removesuffix(" Nothing was changed.")
        return cls(headline, hint, selected, Typed.of_form(values))
