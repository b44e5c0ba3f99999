"""Small parts of pages: chips, times, segments, sortable headers, paging, comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from flask import request

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.errors import OffdiagError
from offdiag.store.comments import Comment
from offdiag.store.evaluations import EvaluationWork
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import Failure, failure_of
from offdiag_web.components import numbers

WROTE = "wrote"
NOBODY_NAMED = "somebody"


@dataclass(frozen=True, slots=True)
class Paging:
    """A page of a list: the lines from `start` up to but not including `end`, counted from 0."""

    start: int
    end: int
    range_text: str
    first_url: str | None
    previous_url: str | None
    next_url: str | None

    @property
    def is_whole(self) -> bool:
        return self.previous_url is None and self.next_url is None


def paging(
    total: int,
    start: int,
    *,
    per_page: int,
    words: tuple[str, str],
    url: Callable[[int], str],
) -> Paging:
    """The page that starts at a line, or the last page if there are fewer lines.

    `words` are the singular and plural for lines; `url` makes the address of a page from its first
    line.
    """
    first = min(start, max(total - 1, 0) // per_page * per_page)
    end = min(first + per_page, total)
    shown = numbers.plural(total, *words)
    if end - first < total:
        shown = f"{numbers.count(first + 1)}\N{EN DASH}{numbers.count(end)} of {shown}"
    return Paging(
        start=first,
        end=end,
        range_text=shown,
        first_url=url(0) if first else None,
        previous_url=url(max(first - per_page, 0)) if first else None,
        next_url=url(end) if end < total else None,
    )


@dataclass(frozen=True, slots=True)
class Link:
    """A text and the address it links to, None if there is none."""

    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of a list to choose from."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """One choice of a control; `key` is its keyboard shortcut."""

    text: str
    url: str
    is_current: bool
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of a run or a dataset.

    `mark` says that it shows a problem, when seen from another page; `count` is the number of its
    items.
    """

    text: str
    url: str
    is_current: bool
    mark: str = ""
    count: str = ""


AriaSort = Literal["ascending", "descending", "none"]


def aria_sort(*, is_current: bool, descending: bool) -> AriaSort:
    """The value of `aria-sort` for a column head."""
    if not is_current:
        return "none"
    return "descending" if descending else "ascending"


TASK_WORDS = {
    Task.BINARY: "binary",
    Task.MULTICLASS: "multi-class",
    Task.MULTILABEL: "multi-label",
}


@dataclass(frozen=True, slots=True)
class SortHead:
    """The head of a column by which a table can be sorted."""

    title: str
    sort_url: str
    aria_sort: AriaSort


@dataclass(frozen=True, slots=True)
class ClassWords:
    """The word for one of the classes or labels of a run, and its plural."""

    one: str
    many: str


CLASSES = ClassWords("class", "classes")
LABELS = ClassWords("label", "labels")


def class_words(task: Task) -> ClassWords:
    """The word "class" for one class per sample, or "label" for sets of labels."""
    return LABELS if task is Task.MULTILABEL else CLASSES


@dataclass(frozen=True, slots=True)
class Moment:
    """One point in time: for reading ("4 min ago"), in full (UTC), and for machines."""

    relative: str
    full: str
    machine: str


def moment(when: datetime, *, now: datetime) -> Moment:
    """Describe `when` as seen from `now`, both aware."""
    utc = when.astimezone(tz=now.tzinfo)
    return Moment(
        relative=_relative(now - when, when),
        full=f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        machine=when.isoformat(),
    )


def moment_of(when: datetime) -> Moment:
    """Describe `when` as seen from the time of the request, for templates."""
    return moment(when, now=current_registry().database.clock())


def _relative(age: timedelta, when: datetime) -> str:
    seconds = age.total_seconds()
    if seconds < 10:
        return "just now"
    if seconds > 30 * 86_400:
        return f"{when.day} {when:%b %Y}"
    return f"{spell(seconds)} ago"


def spell(seconds: float) -> str:
    """A duration in its largest unit: "12 s", "4 min", "3 h", "5 d"."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(max(seconds, 0))} s"


def spell_short(seconds: float) -> str:
    """A run time: "3 ms", "1.2 s", "2 min"."""
    if seconds < 0.9995:
        return f"{max(seconds * 1000, 0):.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else spell(seconds)


def ahead_text(seconds: float) -> str:
    """ "in 3 d", or that the time has come."""
    return f"in {spell(seconds)}" if seconds >= 1 else "due now"


Tone = Literal["neutral", "good", "busy", "warning", "error", "hides", "may-hide"]


@dataclass(frozen=True, slots=True)
class Chip:
    """A few words; the tone adds a symbol and a colour, but the words suffice."""

    text: str
    tone: Tone = "neutral"
    detail: str | None = None
    url: str | None = None


NO_WORKER = "No worker is running, so metrics stay queued. Start one with offdiag worker."


def waits_for_worker(state: RunState, chip: Chip | None) -> bool:
    """Whether a worker has yet to compute the metrics of a run; `chip` shows its state."""
    return chip is not None and chip.tone == "busy" and state is not RunState.OPEN


def state_chip(
    state: RunState, *, work: EvaluationWork | None, n_predictions: int, now: datetime
) -> Chip:
    """The state of a run without metrics."""
    if state is RunState.OPEN:
        return Chip("open", "busy", f"{numbers.plural(n_predictions, 'prediction')} logged so far")
    if state is RunState.FAILED or (work is not None and work.state == "dead"):
        return Chip("evaluation failed", "error", _failure_detail(work))
    if work is None:
        return Chip("metrics not computed", "busy", "not queued yet")
    waited = spell((now - work.asked_at).total_seconds())
    if work.state == "doing":
        return Chip(f"computing metrics, queued {waited} ago", "busy", f"job {work.id}")
    return Chip(f"metrics queued {waited} ago", "busy", f"job {work.id}")


def _failure_detail(work: EvaluationWork | None) -> str | None:
    if work is None:
        return None
    lines = (work.error or "").strip().splitlines()
    after = numbers.plural(work.attempts, "attempt")
    return f"job {work.id} after {after}" + (f": {lines[-1]}" if lines else "")


def tag_text(key: str, value: object) -> str:
    """A tag as written in a filter: only its key if the value says nothing more."""
    return key if value in (None, True, "") else f"{key}={value}"


_LOGGED_AS = {
    SourceOrientation.PREDICTIONS: "counted from predictions",
    SourceOrientation.ACTUAL_ROWS: "uploaded as rows = actual",
    SourceOrientation.ACTUAL_COLUMNS: "uploaded as columns = actual, turned when stored",
}
_VERDICTS: dict[OrientationVerdict, tuple[str, Tone]] = {
    OrientationVerdict.CANONICAL: ("verified", "good"),
    OrientationVerdict.TRANSPOSED: ("looks transposed", "warning"),
    OrientationVerdict.AMBIGUOUS: ("cannot be verified", "neutral"),
    OrientationVerdict.INCONSISTENT: ("does not fit the dataset", "warning"),
    OrientationVerdict.UNVERIFIED: ("not verified", "neutral"),
}


def orientation_chip(
    source: SourceOrientation, verdict: str | None, *, counted_on: str | None = None
) -> Chip:
    """What is stored, how it was imported, and what the check of its margins found.

    `counted_on` is the program that counted the matrix on its own samples, if one did.
    """
    came_as = _LOGGED_AS[source] if counted_on is None else f"counted by {counted_on}"
    text = f"rows = actual; {came_as}"
    is_sure = counted_on is not None and verdict == OrientationVerdict.CANONICAL
    if source is SourceOrientation.PREDICTIONS or is_sure:
        return Chip(text, "good")
    if verdict is None:
        return Chip(text)
    words, tone = _VERDICTS[OrientationVerdict(verdict)]
    return Chip(f"{text}, {words}", tone)


@dataclass(frozen=True, slots=True)
class Caution:
    """Something the reader must know before reading on: a headline and what to do."""

    headline: str
    explanation: str
    short: str = ""
    """The headline in lists, where there is room for two words."""


def orientation_warning(source: SourceOrientation, verdict: str | None) -> Caution | None:
    """A warning if the recorded orientation is in doubt, else None."""
    if source is SourceOrientation.PREDICTIONS or verdict is None:
        return None
    match OrientationVerdict(verdict):
        case OrientationVerdict.TRANSPOSED:
            return Caution(
                "This matrix looks transposed.", _looks_transposed(source), "transposed?"
            )
        case OrientationVerdict.INCONSISTENT:
            return Caution(
                "This matrix does not match the labels of its dataset.",
                "Neither its actual nor its predicted totals match the class counts of the "
                "dataset. It cannot be compared with runs on those labels.",
                "other labels",
            )
        case _:
            return None


def _looks_transposed(source: SourceOrientation) -> str:
    other = (
        SourceOrientation.ACTUAL_ROWS
        if source is SourceOrientation.ACTUAL_COLUMNS
        else SourceOrientation.ACTUAL_COLUMNS
    )
    return (
        "Its predicted totals match the class counts of the dataset and its actual totals do "
        "not, so actual and predicted were probably swapped. Accuracy, F1 and MCC stay the same; "
        "precision and recall are swapped. If so, log it again with "
        f'orientation="{other}", or swap the two columns of the frame.'
    )


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One entry. `who` is None if an evaluation or time caused it; `quote` is plain text."""

    at: datetime
    who: str | None
    what: str
    quote: str | None


@dataclass(frozen=True, slots=True)
class Discussion:
    """The comments on one thing, oldest first. New ones are posted to `url`; `back` shows them.

    `typed` is a comment that was refused, and `failure` what is wrong with it.
    """

    url: str
    back: str
    lines: tuple[HistoryLine, ...]
    typed: str = ""
    failure: Failure | None = None


def discussion(
    comments: Iterable[Comment], *, url: str, back: str, refused: OffdiagError | None = None
) -> Discussion:
    """Present the comments on one thing; `refused` is the error about the comment in the form."""
    return Discussion(
        url,
        back,
        tuple(map(comment_line, comments)),
        request.form.get("comment", ""),
        None if refused is None else failure_of(refused),
    )


def comment_line(comment: Comment) -> HistoryLine:
    return HistoryLine(comment.at, comment.author or NOBODY_NAMED, WROTE, comment.text)
