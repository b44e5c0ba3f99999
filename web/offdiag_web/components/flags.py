"""Flags in words: their titles, severities, states and badges."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import Task
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import MOST_COUNTED, FlagState, FlagStatus
from offdiag.flags.verdict import Certainty, Severity
from offdiag.store.flags import FlagContent
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Chip, Tone

_SYMBOLS = {
    Severity.CRITICAL: "▲",
    Severity.HIGH: "◆",
    Severity.MEDIUM: "■",
    Severity.INFO: "○",
}
_TONES: dict[FlagState, Tone] = {
    FlagState.OPEN: "warning",
    FlagState.ACKNOWLEDGED: "neutral",
    FlagState.SNOOZED: "busy",
    FlagState.DISMISSED: "neutral",
    FlagState.CLOSED: "good",
}
_LABEL_TITLES = {
    "F2": "Label never predicted",
    "F4": "Recall far below the other labels",
    "F10": "Label predicted too rarely",
}
"""Titles that name a class, for runs whose samples have sets of labels."""

_IN_SIGHT_TITLE = "Recall may be far below the other classes"
_IN_SIGHT_TITLES = {Task.MULTILABEL: "Recall may be far below the other labels"}
"""Titles of F4 if the gap is likely but not proved."""


@dataclass(frozen=True, slots=True)
class SeverityMark:
    """A severity by shape and by word; colour only repeats them."""

    symbol: str
    word: str


def severity_mark(severity: Severity) -> SeverityMark:
    return SeverityMark(_SYMBOLS[severity], severity.value)


def flag_name(number: int) -> str:
    """The name of a flag for readers."""
    return f"F-{number}"


def rule_title(rule: str, task: Task) -> str:
    """The title of a rule; a rule that no longer exists is named by its id."""
    known = RULES.get(rule)
    if known is None:
        return f"Rule {rule}"
    in_label_words = _LABEL_TITLES.get(rule) if task is Task.MULTILABEL else None
    return in_label_words or known.title


def flag_title(content: FlagContent, task: Task) -> str:
    """The title of a flag; if it is not proved, it says “may”."""
    title = rule_title(content.rule, task)
    if content.certainty is Certainty.IN_SIGHT:
        title = _IN_SIGHT_TITLES.get(task, _IN_SIGHT_TITLE)
    label, part = content.class_label, content.slice
    about = [] if label is None else [quoted_name(label)]
    about += [] if part is None else [part]
    return f"{title}: {' on '.join(about)}" if about else title


def badge_chip(content: FlagContent) -> Chip | None:
    """The badge that a flag sets, in words; None if it sets none."""
    if content.hides:
        return Chip("accuracy hides a minority class", "hides")
    return Chip("accuracy may hide a minority class", "may-hide") if content.may_hide else None


def state_chip(standing: FlagStatus, now: datetime) -> Chip:
    """The state of a flag now, with the end of a snooze."""
    state = standing.state_at(now)
    if state is FlagState.SNOOZED and standing.snoozed_until is not None:
        return Chip(f"snoozed until {day(standing.snoozed_until)}", _TONES[state])
    return Chip(state.value, _TONES[state])


def day(moment: datetime) -> str:
    """The day on which a snooze ends, with the time if that is not the start of the day."""
    is_midnight = (moment.hour, moment.minute) == (0, 0)
    return f"{moment:%Y-%m-%d}" if is_midnight else f"{moment:%Y-%m-%d %H:%M} UTC"


def counted(number: int) -> str:
    """A number of flags, marked as a lower bound if there are more than are counted."""
    return numbers.count(number) + ("+" if number >= MOST_COUNTED else "")
