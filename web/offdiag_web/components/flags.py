"""Flags in words: their names, severities, states and warnings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import Task
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.verdict import Certainty, Severity
from offdiag.store.flag_inbox import MOST_COUNTED
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
"""Titles where they name a class and the samples of the run carry sets of labels."""

_IN_SIGHT_TITLE = "Recall may be far below the other classes"
_IN_SIGHT_TITLES = {Task.MULTILABEL: "Recall may be far below the other labels"}
"""Titles of F4 where the gap is in sight and not proved."""


@dataclass(frozen=True, slots=True)
class SeverityMark:
    """A severity by shape and by word: colour only repeats what they say."""

    symbol: str
    word: str


def severity_mark(severity: Severity) -> SeverityMark:
    return SeverityMark(_SYMBOLS[severity], severity.value)


def flag_name(number: int) -> str:
    """A flag as people name it."""
    return f"F-{number}"


def rule_title(rule: str, task: Task) -> str:
    """What a rule is called; one that this version no longer has goes by its id."""
    known = RULES.get(rule)
    if known is None:
        return f"Rule {rule}"
    in_label_words = _LABEL_TITLES.get(rule) if task is Task.MULTILABEL else None
    return in_label_words or known.title


def flag_title(content: FlagContent, task: Task) -> str:
    """What a flag says in a few words; what is not proved, it says, may be."""
    title = rule_title(content.rule, task)
    if content.certainty is Certainty.IN_SIGHT:
        title = _IN_SIGHT_TITLES.get(task, _IN_SIGHT_TITLE)
    label, part = content.class_label, content.slice
    about = [] if label is None else [quoted_name(label)]
    about += [] if part is None else [part]
    return f"{title}: {' on '.join(about)}" if about else title


def badge_chip(content: FlagContent) -> Chip | None:
    """Which badge a flag sets, in words; None for neither."""
    if content.hides:
        return Chip("accuracy hides a minority class", "hides")
    return Chip("accuracy may hide a minority class", "may-hide") if content.may_hide else None


def state_chip(standing: FlagStatus, now: datetime) -> Chip:
    """Where a flag stands as seen now, with the end of a rest."""
    state = standing.state_at(now)
    if state is FlagState.SNOOZED and standing.snoozed_until is not None:
        return Chip(f"snoozed until {day(standing.snoozed_until)}", _TONES[state])
    return Chip(state.value, _TONES[state])


def day(moment: datetime) -> str:
    """The day on which a rest ends, with the time where it is not the start of the day."""
    is_midnight = (moment.hour, moment.minute) == (0, 0)
    return f"{moment:%Y-%m-%d}" if is_midnight else f"{moment:%Y-%m-%d %H:%M} UTC"


def counted(number: int) -> str:
    """A number of flags; those beyond what is counted are many."""
    return numbers.count(number) + ("+" if number >= MOST_COUNTED else "")
