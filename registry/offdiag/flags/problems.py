"""Problems: flags of one cause, about one class or slice, over the runs of one model.

A flag is what a rule found in one run. A problem groups the flags of a model on a dataset that
have the same cause, class and slice: in how many runs it was seen and since when, whether the
champion, the candidate or the newest run shows it, and its state. It is closed when neither the
newest runs nor the champion or candidate show it any longer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from offdiag.domain.runs import PromotionRole
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.verdict import Severity


class Cause(StrEnum):
    """What the rules of a problem have in common."""

    MISSED = "missed"
    """A class is found too rarely."""
    IMPRECISE = "imprecise"
    """Predictions of a rare class are mostly wrong."""
    DROP = "drop"
    """A class is found less often than by the baseline."""
    WORTHLESS = "worthless"
    """The model is not clearly better than a constant prediction."""
    HIDES = "hides"
    """Accuracy is far above metrics that weigh all classes."""
    COST = "cost"
    """Another decision would cost less."""
    ORIENTATION = "orientation"
    """The matrix seems to be transposed."""
    FEW_LABELS = "few_labels"
    """A class has too few examples for a reliable recall."""
    SLICE = "slice"
    """A class is found too rarely, or too much is wrong, on a slice of the samples."""


RULES_OF: Mapping[Cause, tuple[str, ...]] = MappingProxyType(
    {
        Cause.MISSED: ("F2", "F3", "F4", "F10"),
        Cause.IMPRECISE: ("F9",),
        Cause.DROP: ("F14",),
        Cause.WORTHLESS: ("F1", "F5"),
        Cause.HIDES: ("F6", "F7", "F8"),
        Cause.COST: ("F11", "F15"),
        Cause.ORIENTATION: ("F13",),
        Cause.FEW_LABELS: ("F12",),
        Cause.SLICE: ("F16",),
    }
)
CAUSE_OF: Mapping[str, Cause] = MappingProxyType(
    {rule: cause for cause, rules in RULES_OF.items() for rule in rules}
)
NEWEST_RUNS = 3
"""A problem is closed when none of this many newest runs of its model shows it."""
MOST_RUNS = 50
"""Runs of a model that are looked at; older ones are ignored."""


class Hit(StrEnum):
    """The most important run that shows a problem now."""

    CHAMPION = "champion"
    CANDIDATE = "candidate"
    NEWEST = "newest"
    OLD = "old"


_HITS = tuple(Hit)


class ProblemState(StrEnum):
    """The state of a problem, derived from its flags."""

    OPEN = "open"
    ACCEPTED = "accepted"
    """Someone is working on it."""
    SNOOZED = "snoozed"
    DISMISSED = "dismissed"
    """It does not matter, for a stated reason."""
    CLOSED = "closed"
    """The newest runs no longer show it."""

    @property
    def is_unresolved(self) -> bool:
        """Whether it is open or accepted."""
        return self in (ProblemState.OPEN, ProblemState.ACCEPTED)


_DECIDED = MappingProxyType(
    {
        FlagState.ACKNOWLEDGED: ProblemState.ACCEPTED,
        FlagState.SNOOZED: ProblemState.SNOOZED,
        FlagState.DISMISSED: ProblemState.DISMISSED,
    }
)


@dataclass(frozen=True, slots=True)
class ProblemKey:
    """What flags of one problem share; `model`, `class_label` and `slice` may be empty."""

    dataset_id: int
    model: str
    cause: Cause
    class_label: str
    slice: str = ""


@dataclass(frozen=True, slots=True)
class SeenRun:
    """An evaluated run of a model on a dataset, and its role there."""

    id: str
    name: str
    dataset_id: int
    model: str
    created_at: datetime
    role: PromotionRole | None = None


@dataclass(frozen=True, slots=True)
class SeenFlag:
    """The part of a flag that a problem needs."""

    id: int
    run_id: str
    rule: str
    class_label: str
    status: FlagStatus
    assignee: str | None
    first_seen: datetime
    slice: str = ""


@dataclass(frozen=True)
class Problem:
    """Flags of one cause, class and slice over the runs of a model on a dataset.

    `runs` are those looked at and `flags` those raised on them, both newest first.
    """

    number: int
    key: ProblemKey
    runs: tuple[SeenRun, ...]
    flags: tuple[SeenFlag, ...]
    now: datetime

    @cached_property
    def affected(self) -> tuple[SeenRun, ...]:
        """The runs that show the problem, newest first."""
        flagged = {flag.run_id for flag in self.flags}
        return tuple(run for run in self.runs if run.id in flagged)

    @cached_property
    def current(self) -> tuple[SeenFlag, ...]:
        """Flags of the newest runs, the champion and the candidate."""
        newest = {run.id for run in self.runs[:NEWEST_RUNS]}
        newest |= {run.id for run in self.runs if run.role is not None}
        return tuple(flag for flag in self.flags if flag.run_id in newest)

    @property
    def since(self) -> datetime:
        """When the first run that shows the problem was logged."""
        return self.affected[-1].created_at

    @cached_property
    def news_at(self) -> datetime:
        """When it was raised; if it had been closed, when it was last raised after that."""
        places = {run.id: place for place, run in enumerate(self.runs)}
        first, last = self.flags[0].first_seen, places[self.flags[0].run_id]
        for flag in self.flags:
            place = places[flag.run_id]
            if place - last > NEWEST_RUNS:
                break
            last, first = place, min(first, flag.first_seen)
        return first

    @cached_property
    def severity(self) -> Severity:
        """The severity of its most severe flag, on the newest runs if they show it."""
        shown = self.current or self.flags
        return max((flag.status.severity for flag in shown), key=lambda each: each.rank)

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """Which important runs show it, the most important first; `OLD` if none does."""
        shown = {flag.run_id for flag in self.current}
        found = {Hit(run.role.value) for run in self.runs if run.role and run.id in shown}
        if self.runs[0].id in shown:
            found.add(Hit.NEWEST)
        return tuple(hit for hit in _HITS if hit in found) or (Hit.OLD,)

    @property
    def hits_role(self) -> bool:
        """Whether the champion or the candidate shows it."""
        return self.hits[0] in (Hit.CHAMPION, Hit.CANDIDATE)

    @property
    def must_show(self) -> bool:
        """Whether only a decision about this particular run may hide it."""
        return self.severity is Severity.CRITICAL and self.hits_role

    @property
    def is_low(self) -> bool:
        """Whether it is shown only on demand: an old experiment, or nothing severe."""
        if self.severity is Severity.INFO:
            return True
        if self.state is ProblemState.CLOSED:
            return self.severity is Severity.MEDIUM
        return not self.hits_role and (self.hits[0] is Hit.OLD or self.severity is Severity.MEDIUM)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The rules that currently raise it, in their order."""
        raised = {flag.rule for flag in self.current or self.flags}
        return tuple(rule for rule in RULES_OF[self.key.cause] if rule in raised)

    @property
    def assignee(self) -> str | None:
        return next((flag.assignee for flag in self.flags if flag.assignee), None)

    @cached_property
    def state(self) -> ProblemState:
        """Closed, open, or as decided.

        Later runs raise flags of their own. These do not reopen a problem that was decided at the
        same or a higher severity, unless they are critical on the champion or the candidate.
        """
        if not self.current:
            return ProblemState.CLOSED
        decided = [flag for flag in self.flags if flag.status.state_at(self.now) in _DECIDED]
        if not decided:
            return ProblemState.OPEN
        limit = max((flag.status.triaged or flag.status.severity).rank for flag in decided)
        roles = {run.id for run in self.runs if run.role is not None}
        for flag in self.current:
            if flag.status.state_at(self.now) is not FlagState.OPEN:
                continue
            severity = flag.status.severity
            if severity.rank > limit or (flag.run_id in roles and severity is Severity.CRITICAL):
                return ProblemState.OPEN
        return _DECIDED[decided[0].status.state_at(self.now)]

    def is_new(self, seen_at: datetime | None) -> bool:
        """Whether it is open and was raised after a visit; None means no visit."""
        return self.state is ProblemState.OPEN and (seen_at is None or self.news_at > seen_at)


def problems_of(
    numbers: Mapping[ProblemKey, int],
    runs: Sequence[SeenRun],
    flags: Iterable[SeenFlag],
    *,
    now: datetime,
) -> list[Problem]:
    """Group raised flags into problems; runs of all models, newest first. Unordered."""
    by_model: dict[tuple[int, str], list[SeenRun]] = defaultdict(list)
    places: dict[str, tuple[int, SeenRun]] = {}
    for place, run in enumerate(runs):
        by_model[run.dataset_id, run.model].append(run)
        places[run.id] = place, run
    grouped: dict[ProblemKey, list[SeenFlag]] = defaultdict(list)
    for flag in flags:
        cause = CAUSE_OF.get(flag.rule)
        if cause is None or flag.status.state is FlagState.CLOSED:
            continue
        _, run = places[flag.run_id]
        key = ProblemKey(run.dataset_id, run.model, cause, flag.class_label, flag.slice)
        grouped[key].append(flag)
    return [
        Problem(
            numbers[key],
            key,
            tuple(by_model[key.dataset_id, key.model]),
            tuple(sorted(found, key=lambda flag: (places[flag.run_id][0], flag.id))),
            now,
        )
        for key, found in grouped.items()
        if key in numbers
    ]


def in_order(problems: Iterable[Problem], seen_at: datetime | None) -> list[Problem]:
    """New problems first, then those of champion and candidate, the severe, the frequent."""
    return sorted(problems, key=lambda each: place_of(each, seen_at))


def place_of(problem: Problem, seen_at: datetime | None) -> tuple[int, ...]:
    """The place of a problem in the order of lists."""
    return (
        not problem.is_new(seen_at),
        problem.state is not ProblemState.OPEN,
        _HITS.index(problem.hits[0]),
        -problem.severity.rank,
        -len(problem.affected),
        problem.number,
    )


def related(problem: Problem, others: Iterable[Problem]) -> list[Problem]:
    """Unresolved problems of the dataset with the same class, or else with the same cause.

    Those of low severity are left out, as in lists.
    """
    key = problem.key

    def is_related(other: ProblemKey) -> bool:
        if key.class_label:
            return other.class_label == key.class_label
        return other.cause is key.cause

    same = (
        each
        for each in others
        if each.number != problem.number
        and each.key.dataset_id == key.dataset_id
        and is_related(each.key)
        and each.state.is_unresolved
        and not each.is_low
    )
    return in_order(same, None)


@dataclass(frozen=True, slots=True)
class Line:
    """A problem in a list, with those of other classes that share its line."""

    problem: Problem
    folded: tuple[Problem, ...] = ()


MOST_CLASSES = 3
"""Up to this many classes of a model with the same cause have lines of their own."""


def folded(problems: Iterable[Problem], *, most: int = MOST_CLASSES) -> list[Line]:
    """One line per problem, but a shared one for many classes or slices with the same cause.

    Problems that are critical on a champion or candidate keep their own line. The order stays.
    """
    lines: list[Line] = []
    shown: dict[object, int] = defaultdict(int)
    places: dict[object, int] = {}
    for problem in problems:
        key = problem.key
        group = key.dataset_id, key.model, key.cause, problem.state
        if not problem.must_show:
            if shown[group] > most:
                place = places[group]
                line = lines[place]
                lines[place] = Line(line.problem, (*line.folded, problem))
                continue
            shown[group] += 1
            if shown[group] > most:
                places[group] = len(lines)
        lines.append(Line(problem))
    return lines
