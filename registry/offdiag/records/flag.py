"""Flags and their triage."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import AwareDatetime, Field

from offdiag.flags.lifecycle import Action, FlagState
from offdiag.flags.verdict import Certainty, Severity
from offdiag.records.base import Page, Paged, RequestBody, ResponseBody
from offdiag.records.runs.run import IsOutdated

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.flags.alternatives import Alternative
    from offdiag.services.flags.page import FlagDetail
    from offdiag.store.database import Database
    from offdiag.store.flag_inbox import FlagEntry, FlagPlace

MOST_AT_ONCE = 1_000


class FlagsQuery(Paged):
    """Filters for flags. The most severe flags come first, and the newest of equally severe
    ones."""

    state: FlagState | None = None
    at_least: Severity | None = Field(
        default=None, description="This severity or a more severe one."
    )
    rule: str | None = None
    class_label: str | None = Field(default=None, description="Empty: flags about no class.")
    slice: str | None = Field(default=None, description="Empty: flags about all examples.")
    run: str | None = None
    dataset: str | None = None
    model: str | None = None
    project: str | None = None
    assignee: str | None = Field(default=None, description="Empty: unassigned.")
    in_badge: bool | None = Field(
        default=None, description="Whether it shows that accuracy hides a minority class."
    )
    may_hide: bool | None = Field(
        default=None, description="Whether it shows that accuracy may hide a minority class."
    )

    def conditions(self) -> dict[str, Any]:
        """The arguments of a `FlagFilter`."""
        conditions = self.model_dump(exclude={"limit", "page_token", "run"})
        return {**conditions, "run_id": self.run}


class Flag(ResponseBody):
    """A flag that a rule raised for a run, or for one class or slice of it."""

    id: int
    revision: int = Field(description="Number of its last change.")
    rule: str
    rule_version: int = Field(description="Version of the rule that raised it last.")
    severity: Severity
    state: FlagState = Field(description="A snoozed flag is open once its time is over.")
    class_label: str | None
    slice: str | None = Field(default=None, description="Null: about all examples.")
    message: str
    evidence: dict[str, Any]
    fired: list[dict[str, Any]]
    thresholds: dict[str, float]
    certainty: Certainty = Field(
        default=Certainty.PROVED,
        description="`in_sight` if F4 neither confirms a large gap nor rules it out.",
    )
    in_badge: bool = Field(description="Whether it shows that accuracy hides a minority class.")
    may_hide: bool = Field(
        default=False, description="Whether it shows that accuracy may hide a minority class."
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


class FlagsOfRun(ResponseBody):
    """All flags of a run."""

    run: str
    flags: list[Flag]
    outdated: IsOutdated = None


class FlagEvent(ResponseBody):
    """An event in the history of a flag; without an author, an evaluation caused it."""

    at: datetime
    author: str | None
    kind: str
    text: str | None


class FlagWithHistory(Flag):
    """A flag with its history, oldest first."""

    history: list[FlagEvent]


class CountedFlags(ResponseBody):
    """Flags in the list of a command."""

    counts: dict[str, int] = Field(
        description="Number of flags by state, with the other filters unchanged; 1,000 stands for "
        "1,000 or more."
    )
    flags: list[Flag]


class FlagPage(CountedFlags, Page):
    """A page of flags."""


class FlagList(CountedFlags):
    """A page of flags, with the URL of the next page."""

    state: str = Field(description='A state of flags, or "all".')
    filter: dict[str, str]
    next: str | None


class MeasuredGain(ResponseBody):
    """The advantage of another run, with an interval that is simultaneous for all compared runs.
    Only the other run predicts the `won` samples correctly, and only the flagged run the `lost`
    samples.
    """

    value: float
    low: float
    high: float
    won: int
    lost: int


class BetterOnIt(ResponseBody):
    """A run with higher recall of the class of a flag."""

    run: str
    name: str
    model: str | None
    recall: float | None
    accuracy: float | None
    recall_gain: MeasuredGain | None
    accuracy_gain: MeasuredGain | None
    p: float | None


class Compared(ResponseBody):
    """One comparison of a rule."""

    what: str
    measured: float | None
    sign: str
    threshold: float
    holds: bool
    reason: str | None = Field(default=None, description="Why `measured` is null.")


class Check(ResponseBody):
    """A rule with all its comparisons."""

    rule: str
    class_label: str | None
    fires: bool
    conditions: list[Compared]


class RecallOfClass(ResponseBody):
    """A class with examples: `tp` of its `support` are predicted correctly."""

    label: str
    support: int
    tp: int
    recall: float
    ci_low: float
    ci_high: float


class Rank(ResponseBody):
    """A value of the run, and its rank among all runs on its ground truth."""

    value: float | None
    rank: int | None
    of: int


class FlagExplained(FlagWithHistory):
    """A flag with what every rule measured, the recall of every class, and better runs."""

    title: str | None
    help: str | None
    better: list[BetterOnIt]
    compared_with: int
    checks: list[Check] = Field(
        description="The comparisons of its rule when it was raised, and "
        "those of the other rules now."
    )
    classes: list[RecallOfClass]
    ranks: dict[str, Rank]


class Decision(RequestBody):
    """A triage action; the action decides which other fields apply."""

    action: Action
    until: AwareDatetime | None = Field(default=None, description="For snooze.")
    reason: str | None = Field(default=None, description="For dismiss.")
    assignee: str | None = Field(default=None, description="User name; null to unassign.")
    text: str | None = Field(default=None, description="For comment.")
    author: str | None = None


class SeenFlag(RequestBody):
    """A flag, and the revision that the author saw."""

    id: int = Field(ge=1, lt=10**18)
    revision: int | None = Field(default=None, ge=0, lt=10**18)


class Decisions(Decision):
    """A triage action for several flags; it applies to all of them or to none."""

    flags: list[SeenFlag] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Decided(ResponseBody):
    """Flags after triage."""

    flags: list[Flag]


def flag_document(entry: FlagEntry, now: datetime) -> Flag:
    """A flag as a document, in its state at `now`."""
    record, content, status = entry.flag, entry.flag.content, entry.flag.status
    return Flag.made_of(
        content,
        **{name: getattr(entry, name) for name in _OF_ENTRY},
        **{name: getattr(record, name) for name in _OF_RECORD},
        **{name: getattr(status, name) for name in _OF_STATUS},
        run=record.run_id,
        state=status.state_at(now),
        in_badge=content.hides,
    )


_OF_ENTRY = ("revision", "run_name", "model", "dataset", "project")
_OF_RECORD = ("id", "assignee", "first_seen", "last_seen", "closed_at")
_OF_STATUS = ("severity", "snoozed_until", "reason")


def asked_flags(
    database: Database, asked: FlagsQuery, *, limit: int, after: FlagPlace | None = None
) -> tuple[CountedFlags, FlagPlace | None]:
    """At most `limit` flags after a place, and the place after which there are more."""
    from offdiag.services.flags.page import browse_flags
    from offdiag.store.flag_conditions import FlagFilter

    page = browse_flags(database, FlagFilter(**asked.conditions()), after=after, limit=limit)
    now = database.clock()
    found = CountedFlags(
        counts={state.value: count for state, count in page.counts.items()},
        flags=[flag_document(entry, now) for entry in page.entries],
    )
    return found, page.following


def flag_with_history(detail: FlagDetail, now: datetime) -> FlagWithHistory:
    """A flag with its history."""
    return FlagWithHistory(
        **dict(flag_document(detail.entry, now)),
        history=list(map(FlagEvent.made_of, detail.history)),
    )


def flag_explained(detail: FlagDetail, now: datetime) -> FlagExplained:
    """A flag with all evidence, in its state at `now`."""
    return FlagExplained(
        **dict(flag_with_history(detail, now)),
        title=None if detail.rule is None else detail.rule.title,
        help=None if detail.rule is None else detail.rule.help,
        better=list(map(_better, detail.better.runs)),
        compared_with=detail.better.n_compared,
        checks=[
            Check.made_of(each, conditions=[condition.to_dict() for condition in each.conditions])
            for each in detail.checked
        ],
        classes=[
            RecallOfClass.made_of(
                each,
                label=each.name,
                support=each.cases,
                tp=each.found,
                ci_low=each.low,
                ci_high=each.high,
            )
            for each in detail.recalls
        ],
        ranks={
            key: Rank(value=each.value.value, rank=each.rank, of=each.n_runs)
            for key, each in detail.ranks.items()
        },
    )


FLAG_COLUMNS = (
    *("id", "severity", "rule", "rule_version", "class_label", "run", "run_name", "model"),
    *("dataset", "project", "state", "snoozed_until", "reason", "assignee", "in_badge", "message"),
    *("first_seen", "last_seen", "closed_at", "certainty", "may_hide", "slice"),
)
CHECK_COLUMNS = (
    *("rule", "class_label", "fires", "what", "measured", "sign", "threshold", "holds"),
    "reason",
)


def check_rows(flag: FlagExplained) -> Iterator[tuple[Cell, ...]]:
    """One line of CSV for each comparison, in the order of `CHECK_COLUMNS`."""
    for check in flag.checks:
        for compared in check.conditions:
            yield (*check.row(CHECK_COLUMNS[:3]), *compared.row(CHECK_COLUMNS[3:]))


def _better(better: Alternative) -> BetterOnIt:
    return BetterOnIt.made_of(
        better.run,
        run=better.run.run_id,
        recall=better.run.recall.value,
        recall_gain=better.recall,
        accuracy_gain=better.accuracy,
        p=better.p,
    )
