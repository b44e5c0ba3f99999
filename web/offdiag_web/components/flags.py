"""Flags in words, and the one sentence at the top of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import Task
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.problems import CAUSE_OF
from offdiag.flags.verdict import Certainty, Severity
from offdiag.flags.warning import RaisedFlag, minority_warning, named
from offdiag.metrics.counted import class_sizes
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE
from offdiag.store.flag_inbox import MOST_COUNTED
from offdiag.store.flags import FlagContent, FlagRecord
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import (
    Chip,
    ClassWords,
    Tone,
    class_words,
    orientation_warning,
)
from offdiag_web.urls.flags import flag_url, problems_of_run

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


@dataclass(frozen=True, slots=True)
class Statement:
    """What has to be known first; `strong` is said in bold.

    `mark` is what the first tab carries on the other pages, "" where nothing is wrong.
    `class_name` is the class that it is about.
    """

    strong: str
    rest: str = ""
    tone: Tone = "neutral"
    mark: str = ""
    link: str | None = None
    link_text: str = ""
    class_name: str | None = None


def run_statement(detail: RunDetail) -> Statement | None:
    """The statement of a run; None until it has labelled examples."""
    results = detail.results
    if results is None or not results.facts.n_cases:
        return None
    doubt = orientation_warning(detail.run.source, detail.run.orientation_verdict)
    if doubt is not None:
        return Statement(doubt.headline, doubt.explanation, "warning", "▲")
    return _problem(detail, results) or _detection(results, class_words(detail.run.task))


def _problem(detail: RunDetail, results: RunResults) -> Statement | None:
    """What the accuracy hides or may hide; a problem dismissed for a reason takes no part."""
    counting = {
        RaisedFlag(flag.content.rule, flag.content.class_label, flag.content.hides): flag
        for flag in detail.flags.flags
        if flag.content.in_badge and not flag.status.is_dismissed
    }
    found = minority_warning(results.counted, counting)
    if found is None:
        return None
    flag = counting[found.flag]
    if found.recall is None:
        return _about(detail, flag, f"{found.strong}.", _ranks(detail, results))
    rest = _ranks(detail, results)
    if not found.is_proved:
        more = flag.content.evidence.get("examples_needed")
        rest = f"About {numbers.count(more)} more labels of it would decide." if more else ""
    return _about(detail, flag, found.strong, f"{found.interval}. {rest}")


def _about(detail: RunDetail, flag: FlagRecord, strong: str, rest: str) -> Statement:
    of_run = detail.flags
    contents = [flag.content for flag in of_run.flags]
    kinds = {(CAUSE_OF.get(each.rule), each.class_label, each.slice) for each in contents}
    more = "+" if of_run.n_firing > len(of_run.flags) else ""
    link, text = problems_of_run(detail.run.id), f"{numbers.count(len(kinds))}{more} problems"
    if len(kinds) == 1:
        link, text = flag_url(flag.id), "Problem"
    is_proved = flag.content.hides
    return Statement(
        strong,
        rest.rstrip(),
        "hides" if is_proved else "may-hide",
        "▲" if is_proved else "◇",
        link,
        text,
        flag.content.class_label,
    )


def _ranks(detail: RunDetail, results: RunResults) -> str:
    """ "Accuracy 0.828 is rank 10 of 30, balanced accuracy 0.596 is rank 15."; "" if alone."""
    flags = detail.flags
    accuracy = results.aggregate.get("overall_accuracy")
    if flags.accuracy_rank is None or flags.n_ranked < 2 or detail.run.task is Task.MULTILABEL:
        return ""
    if accuracy is None or accuracy.value is None:
        return ""
    said = (
        f"Accuracy {numbers.metric(accuracy.value)} is rank "
        f"{numbers.count(flags.accuracy_rank)} of {numbers.count(flags.n_ranked)}"
    )
    balanced = results.aggregate.get("balanced_accuracy")
    if balanced is None or balanced.value is None or flags.balanced_rank is None:
        return f"{said}."
    return (
        f"{said}, balanced accuracy {numbers.metric(balanced.value)} is rank "
        f"{numbers.count(flags.balanced_rank)}."
    )


def _detection(results: RunResults, words: ClassWords) -> Statement:
    """Whether every class is found more often than examples of others are taken for it.

    The interval of the recall has to lie wholly above that of the false positive rate. A class
    of few examples that does not reach it cannot be judged.
    """
    names = results.counted.labels.names
    supports = class_sizes(results.counted)
    unclear = [code for code in range(len(names)) if not _is_found(results, code)]
    if not unclear:
        return Statement(
            f"Every {words.one} is found clearly more often than by chance.", tone="neutral"
        )
    chance = [code for code in unclear if supports[code] >= RELIABLE_CLASS_SIZE]
    if chance:
        listed = _listed([names[code] for code in chance])
        verb = "is" if len(chance) == 1 else "are"
        strong = f"{listed} {verb} not found clearly more often than by chance."
        return Statement(strong, tone="may-hide", mark="◇")
    listed = _listed([names[code] for code in unclear])
    return Statement(f"Too few labels to judge {listed}.")


def _is_found(results: RunResults, code: int) -> bool:
    recall, false_alarms = (results.per_class[key][code] for key in ("recall", "fpr"))
    if recall.value is None or recall.ci_low is None:
        return False
    # Where no example is of another class, nothing can be taken for it.
    return recall.ci_low > (false_alarms.ci_high or 0.0)


_MOST_NAMED = 5


def _listed(names: Sequence[str]) -> str:
    shown = [named(name) for name in names[:_MOST_NAMED]]
    hidden = len(names) - len(shown)
    return ", ".join(shown) + (f" and {numbers.count(hidden)} more" if hidden else "")
