"""Flags in words, and the flags of one run as its pages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from offdiag.domain.number_text import points
from offdiag.domain.runs import Task
from offdiag.flags.assessment import ClassRecall, class_recalls
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.verdict import Certainty, Severity
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.store.flag_inbox import MOST_COUNTED
from offdiag.store.flags import FlagContent, FlagRecord
from offdiag.store.run_page import RunDetail
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Chip, Tone, class_words
from offdiag_web.urls.flags import FlagFields, FlagListAddress, flag_url

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
"""Titles where they name a class and the cases of the run carry sets of labels."""

_IN_SIGHT_TITLE = "Recall may be far below the other classes"
_IN_SIGHT_TITLES = {Task.MULTILABEL: "Recall may be far below the other labels"}
"""Titles of F4 where the gap is in sight and not proved."""


@dataclass(frozen=True, slots=True)
class SeverityMark:
    """A severity by shape and by word: colour only repeats what they say."""

    symbol: str
    word: str


def severity_mark(severity: Severity) -> SeverityMark:
    """The mark of a severity."""
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
    label = content.class_label
    return title if label is None else f"{title}: {quoted_name(label)}"


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


def found_text(evidence: Mapping[str, Any]) -> str | None:
    """ "0/17 found", None for evidence about something else."""
    cases, hits = evidence.get("actual"), evidence.get("correct")
    if not isinstance(cases, int) or not isinstance(hits, int):
        return None
    return f"{numbers.hits_of(hits, cases)} found"


MOST_NAMED = 3
MOST_LINKED = 4


@dataclass(frozen=True, slots=True)
class FlagLink:
    """A flag that is named. `settled` is its state where it is not open."""

    name: str
    title: str
    url: str
    severity: SeverityMark
    settled: str | None


@dataclass(frozen=True, slots=True)
class HiddenClasses:
    """What the accuracy hides, in a headline and a sentence, with the flags that say so.

    `tone` and `symbol` are those of the badge: red where it hides, amber where it may hide.
    """

    tone: Tone
    symbol: str
    headline: str
    sentence: str
    flags: tuple[FlagLink, ...]


@dataclass(frozen=True, slots=True)
class FlagsOnRun:
    """The gravest flags of a run, and where all of them are."""

    hidden: HiddenClasses | None
    links: tuple[FlagLink, ...]
    all_text: str | None
    all_url: str


def flags_on_run(detail: RunDetail, now: datetime) -> FlagsOnRun:
    """Present the flags of a run, none where nothing fires."""
    flags = detail.flags
    return FlagsOnRun(
        hidden=_hidden(detail, now),
        links=tuple(_link(flag, now, detail.run.task) for flag in flags.flags[:MOST_LINKED]),
        all_text=f"all {numbers.count(flags.n_firing)} flags"
        if flags.n_firing > MOST_LINKED
        else None,
        all_url=FlagListAddress(None, FlagFields(run=detail.run.id)).url(),
    )


def _link(flag: FlagRecord, now: datetime, task: Task) -> FlagLink:
    state = flag.status.state_at(now)
    return FlagLink(
        name=flag_name(flag.id),
        title=flag_title(flag.content, task),
        url=flag_url(flag.id),
        severity=severity_mark(flag.status.severity),
        settled=None if state is FlagState.OPEN else state.value,
    )


def _hidden(detail: RunDetail, now: datetime) -> HiddenClasses | None:
    """What the badge is about; a flag that was dismissed for a reason takes no part.

    What is in sight is told where nothing is proved.
    """
    shown = [flag for flag in detail.flags.flags if not flag.status.is_dismissed]
    proved = [flag for flag in shown if flag.content.hides]
    counting = proved or [flag for flag in shown if flag.content.may_hide]
    if detail.results is None or not counting:
        return None
    matrix = detail.results.counted
    start = _accuracy(detail, matrix)
    collapsed = next((flag for flag in counting if flag.content.class_label is None), None)
    if collapsed is not None:
        answer = matrix.labels.names[int(matrix.predicted.argmax())]
        return HiddenClasses(
            "hides",
            "▲",
            "Accuracy hides a minority class.",
            f"{start}, but every answer is {quoted_name(answer)}.",
            (_link(collapsed, now, detail.run.task),),
        )
    named = _by_class(counting, class_recalls(matrix))
    if not named:
        return None
    is_minority = any(flag.content.evidence.get("is_minority") for flag, _ in named)
    parts = [_found(each) for _, each in named[:MOST_NAMED]]
    if isinstance(matrix, CountedSets):
        head = f"Averages {'hide' if proved else 'may hide'} a failing label."
    else:
        kind = "minority" if is_minority else "failing"
        head = f"Accuracy {'hides' if proved else 'may hide'} a {kind} class."
    sentence = f"{start}, but {'; '.join(parts)}{_others(detail, len(named) - len(parts))}."
    return HiddenClasses(
        "hides" if proved else "may-hide",
        "▲" if proved else "◇",
        head,
        sentence if proved else f"{sentence} {_doubt(named[:MOST_NAMED], detail.run.task)}",
        tuple(_link(flag, now, detail.run.task) for flag, _ in named[:MOST_NAMED]),
    )


def _doubt(named: Sequence[tuple[FlagRecord, ClassRecall]], task: Task) -> str:
    """Why it only may hide them, and how many more examples would decide it."""
    words = class_words(task)
    parts = [
        f"about {numbers.count(more)} more of {quoted_name(each.name)}"
        for flag, each in named
        if (more := flag.content.evidence.get("examples_needed")) is not None
    ]
    bound = points(named[0][0].content.thresholds["recall_gap"])
    reason = f"A gap of {bound} to the other {words.many} is neither confirmed nor ruled out"
    if len(parts) == len(named):
        return f"{reason}; {numbers.listed(parts)} would decide it."
    if not parts:
        return f"{reason}, and no practical number of examples would decide it."
    return f"{reason}; {numbers.listed(parts)} would decide it for these, no number for the rest."


def _others(detail: RunDetail, n_others: int) -> str:
    """Failing classes that are not named; those of a run with very many flags are not counted."""
    if not n_others:
        return ""
    at_least = "at least " if detail.flags.n_firing > len(detail.flags.flags) else ""
    verb = "fails" if n_others == 1 else "fail"
    words = class_words(detail.run.task)
    others = numbers.plural(n_others, f"more {words.one}", f"more {words.many}")
    return f"; {at_least}{others} {verb}"


def _accuracy(detail: RunDetail, matrix: Counted) -> str:
    """ "0.864, rank 1 of 12"."""
    text = numbers.metric(matrix.n_right / matrix.total)
    if isinstance(matrix, CountedSets):
        return f"{text} of the sets are exactly right"
    rank, n_runs = detail.flags.accuracy_rank, detail.flags.n_ranked
    if rank is None or n_runs < 2:
        return text
    return f"{text}, rank {numbers.count(rank)} of {numbers.count(n_runs)}"


def _by_class(
    counting: Sequence[FlagRecord], recalls: Sequence[ClassRecall]
) -> list[tuple[FlagRecord, ClassRecall]]:
    """One flag for each class, the one about finding nothing before others; worst class first."""
    recall_of = {each.name: each for each in recalls}
    flag_of: dict[str, FlagRecord] = {}
    for flag in sorted(counting, key=lambda each: each.content.rule):
        label = flag.content.class_label
        if label is not None and label in recall_of:
            flag_of.setdefault(label, flag)
    found = [(flag, recall_of[label]) for label, flag in flag_of.items()]
    return sorted(found, key=lambda pair: (pair[1].recall, -pair[1].cases))


def _found(each: ClassRecall) -> str:
    name, interval = quoted_name(each.name), numbers.interval(each.low, each.high)
    of = f"{numbers.count(each.found)} of {numbers.count(each.cases)}"
    return f"{name} has recall {of} (95 % CI {interval})"
