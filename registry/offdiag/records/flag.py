"""Flags: what the rules raised, and what people decide about it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import AwareDatetime, Field

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Certainty, Severity
from offdiag.records.base import Answered, Asked, Page, Paged

MOST_AT_ONCE = 1_000


class FlagsWanted(Paged):
    """Which flags are wanted; the gravest come first, of equally grave ones the newest."""

    state: FlagState | None = None
    at_least: Severity | None = Field(default=None, description="This severity or a graver one.")
    rule: str | None = None
    class_label: str | None = Field(default=None, description="Empty: of no class.")
    run: str | None = None
    dataset: str | None = None
    model: str | None = None
    project: str | None = None
    assignee: str | None = Field(default=None, description="Empty: of nobody.")
    in_badge: bool | None = Field(
        default=None, description="Whether accuracy hides a minority class by it."
    )
    may_hide: bool | None = Field(
        default=None, description="Whether accuracy may hide a minority class by it."
    )


class Flag(Answered):
    """A rule that fires, or fired, for a run or for one class of it."""

    id: int
    revision: int = Field(description="Number of its last change.")
    rule: str
    rule_version: int = Field(description="Version of the rule that raised it last.")
    severity: Severity
    state: FlagState = Field(description="A flag whose rest is over is open.")
    class_label: str | None
    message: str
    evidence: dict[str, Any]
    fired: list[dict[str, Any]]
    thresholds: dict[str, float]
    certainty: Certainty = Field(
        default=Certainty.PROVED,
        description="`in_sight` where F4 neither proves a large gap nor rules it out.",
    )
    in_badge: bool = Field(description="Whether accuracy hides a minority class by it.")
    may_hide: bool = Field(
        default=False, description="Whether accuracy may hide a minority class by it."
    )
    run: str
    run_name: str
    model: str | None
    dataset: str
    project: str
    assignee: str | None
    snoozed_until: datetime | None
    reason: str | None
    first_seen: datetime
    last_seen: datetime
    closed_at: datetime | None


class FlagPage(Page):
    """A page of flags."""

    counts: dict[str, int] = Field(description="By state, of all that differ only in it.")
    flags: list[Flag]


class FlagsOfRun(Answered):
    """All flags of a run."""

    run: str
    flags: list[Flag]


class FlagEvent(Answered):
    """Something that happened to a flag; without an author an evaluation did it."""

    at: datetime
    author: str | None
    kind: str
    text: str | None


class FlagWithHistory(Flag):
    """A flag with everything that happened to it, oldest first."""

    history: list[FlagEvent]


class Action(StrEnum):
    """What can be decided about a flag."""

    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    DISMISS = "dismiss"
    REOPEN = "reopen"
    ASSIGN = "assign"
    COMMENT = "comment"


class Decision(Asked):
    """What somebody decides; which of the other fields it takes depends on the action."""

    action: Action
    until: AwareDatetime | None = Field(default=None, description="To snooze.")
    reason: str | None = Field(default=None, description="To dismiss.")
    assignee: str | None = Field(default=None, description="To assign; null for nobody.")
    text: str | None = Field(default=None, description="To comment.")
    author: str | None = None


class SeenFlag(Asked):
    """A flag, and the revision of it that somebody saw."""

    id: int = Field(ge=1, lt=10**18)
    revision: int | None = Field(default=None, ge=0, lt=10**18)


class Decisions(Decision):
    """A decision about several flags: about all of them, or about none."""

    flags: list[SeenFlag] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Decided(Answered):
    """Flags as they stand after a decision."""

    flags: list[Flag]
