"""The life cycle of a flag: how people settle it, and how another evaluation changes that.

A flag belongs to a run, a rule and a class. Evaluating the run again never creates a second one:
it updates the flag, closes it when the rule no longer fires, and reopens it when it does again.
A triaged flag stays triaged as long as it is not more severe than it was then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from offdiag.errors import Conflict
from offdiag.flags.verdict import Severity

MOST_COUNTED = 1_000
"""Counting stops at this many flags: no one works through more of them one by one."""


class FlagState(StrEnum):
    """The state of a flag."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    """A user has seen it."""
    SNOOZED = "snoozed"
    """It is hidden until a certain time."""
    DISMISSED = "dismissed"
    """It does not matter, for a stated reason."""
    CLOSED = "closed"
    """The rule no longer fires."""


class Action(StrEnum):
    """A decision about a flag."""

    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    DISMISS = "dismiss"
    REOPEN = "reopen"
    ASSIGN = "assign"
    COMMENT = "comment"


class FlagEventKind(StrEnum):
    """What happened to a flag."""

    OPENED = "opened"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    DISMISSED = "dismissed"
    REOPENED = "reopened"
    CLOSED = "closed"
    ASSIGNED = "assigned"
    COMMENTED = "commented"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class FlagStatus:
    """The state of a flag, its severity, and the severity at its last triage.

    `triaged` is the severity at which a user last triaged it, None if nobody has. `reason` is
    that of a dismissal; a closed flag keeps it, so that it is dismissed if it is raised again.
    """

    state: FlagState
    severity: Severity
    triaged: Severity | None = None
    snoozed_until: datetime | None = None
    reason: str | None = None

    @property
    def is_dismissed(self) -> bool:
        return self.state is FlagState.DISMISSED

    def state_at(self, now: datetime) -> FlagState:
        """The state as people see it: a flag whose snooze is over is open."""
        is_over = self.snoozed_until is not None and self.snoozed_until <= now
        return FlagState.OPEN if is_over else self.state


@dataclass(frozen=True, slots=True)
class Step:
    """The status after an event, and what is to be reported about it, if anything."""

    after: FlagStatus
    kind: FlagEventKind | None = None
    text: str | None = None


def first_raised(severity: Severity) -> Step:
    """The step when a rule fires that has not fired for this run and class before."""
    return Step(FlagStatus(FlagState.OPEN, severity), FlagEventKind.OPENED)


def raised_again(before: FlagStatus, severity: Severity, *, why: str | None = None) -> Step:
    """The step when the rule fires in another evaluation of the run.

    `why` says what else has changed, such as the version of the rule; by itself it is not news.

    A triaged flag that has since become more severe is open again, and so is a closed one,
    unless it was dismissed and is not more severe than then.
    """
    now = replace(before, severity=severity)
    change = f"{before.severity.value} before, {severity.value} now"
    change += f"; {why}" if why else ""
    is_more_severe = before.triaged is not None and severity.rank > before.triaged.rank
    if before.state is FlagState.CLOSED:
        if before.reason is None or is_more_severe:
            return Step(
                FlagStatus(FlagState.OPEN, severity), FlagEventKind.REOPENED, "raised again"
            )
        return Step(
            replace(now, state=FlagState.DISMISSED),
            FlagEventKind.UPDATED,
            "raised again, not more severe than when it was dismissed",
        )
    if is_more_severe:
        return Step(FlagStatus(FlagState.OPEN, severity), FlagEventKind.REOPENED, change)
    if severity is not before.severity:
        return Step(now, FlagEventKind.UPDATED, change)
    return Step(now)


def gone(before: FlagStatus, *, why: str | None = None) -> Step:
    """The step when the rule no longer fires for the run; `why` if the reason is known."""
    if before.state is FlagState.CLOSED:
        return Step(before)
    was_dismissed = before.state is FlagState.DISMISSED
    return Step(
        FlagStatus(
            FlagState.CLOSED,
            before.severity,
            before.triaged if was_dismissed else None,
            reason=before.reason if was_dismissed else None,
        ),
        FlagEventKind.CLOSED,
        why,
    )


def after_snooze(before: FlagStatus, now: datetime) -> Step:
    """The effect of time alone: a flag whose snooze is over is open, and not triaged.

    It is not recorded at that moment, but with the next change of the flag, so that
    the history shows it in the right place.
    """
    if before.state_at(now) is before.state:
        return Step(before)
    return Step(
        FlagStatus(FlagState.OPEN, before.severity), FlagEventKind.REOPENED, "the snooze has ended"
    )


def acknowledged(before: FlagStatus) -> Step:
    """Acknowledge a flag. Raises `Conflict` for a closed flag."""
    return _triaged(before, FlagState.ACKNOWLEDGED, FlagEventKind.ACKNOWLEDGED)


def snoozed(before: FlagStatus, until: datetime) -> Step:
    """Snooze a flag until `until`. Raises `Conflict` for a closed flag."""
    return _triaged(
        before,
        FlagState.SNOOZED,
        FlagEventKind.SNOOZED,
        snoozed_until=until,
        text=f"until {until.isoformat(timespec='seconds')}",
    )


def dismissed(before: FlagStatus, reason: str) -> Step:
    """Dismiss a flag with a reason. Raises `Conflict` for a closed flag."""
    return _triaged(
        before, FlagState.DISMISSED, FlagEventKind.DISMISSED, reason=reason, text=reason
    )


def reopened(before: FlagStatus) -> Step:
    """Reopen a flag. Raises `Conflict` for a closed flag."""
    _require_not_closed(before)
    if before.state is FlagState.OPEN:
        return Step(before)
    return Step(FlagStatus(FlagState.OPEN, before.severity), FlagEventKind.REOPENED)


def _triaged(
    before: FlagStatus,
    state: FlagState,
    kind: FlagEventKind,
    *,
    snoozed_until: datetime | None = None,
    reason: str | None = None,
    text: str | None = None,
) -> Step:
    _require_not_closed(before)
    after = FlagStatus(state, before.severity, before.severity, snoozed_until, reason)
    # Doing the same twice has no further effect.
    return Step(before) if after == before else Step(after, kind, text)


def _require_not_closed(before: FlagStatus) -> None:
    if before.state is FlagState.CLOSED:
        raise Conflict(
            "the flag is closed: its rule no longer raises it.",
            field="flag",
            hint="It reopens if the rule raises it again.",
        )
