"""The inbox of flags: filters, lines, and a decision that was not carried out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from offdiag.errors import OffdiagError
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import SEVERITIES
from offdiag.store.flag_inbox import MOST_COUNTED, FlagEntry, FlagPage, FlagPlace
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, Moment, Segment, moment
from offdiag_web.components.flags import (
    SeverityMark,
    counted,
    flag_name,
    flag_title,
    found_text,
    severity_mark,
    state_chip,
)
from offdiag_web.urls.flags import NOBODY, FlagListAddress, flag_url


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


SHOWN_STATES: tuple[tuple[str, FlagState | None], ...] = (
    ("Open", FlagState.OPEN),
    ("Acknowledged", FlagState.ACKNOWLEDGED),
    ("Snoozed", FlagState.SNOOZED),
    ("Dismissed", FlagState.DISMISSED),
    ("Closed", FlagState.CLOSED),
    ("All", None),
)
_FIELD_WORDS = {"class": "class", "severity": "severity at least"}
REST = timedelta(days=7)
"""How long a flag is put aside unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class FlagLine:
    """One flag. `token` names it with what has been seen of it, for decisions about it."""

    number: int
    name: str
    token: str
    url: str
    severity: SeverityMark
    title: str
    about: str
    message: str
    opened: Moment
    assignee: str | None
    state: Chip | None
    is_selected: bool


@dataclass(frozen=True, slots=True)
class Term:
    """A field the list is narrowed by, with the link that opens it and, if needed, its effect."""

    text: str
    remove_url: str
    without: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of a list to choose from."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class TextField:
    """A field to type a name into."""

    key: str
    text: str
    value: str
    hint: str


@dataclass(frozen=True, slots=True)
class FlagListView:
    """Everything the page shows."""

    title: str
    states: tuple[Segment, ...]
    state_word: str
    severities: tuple[Choice, ...]
    rules: tuple[Choice, ...]
    text_fields: tuple[TextField, ...]
    kept: tuple[tuple[str, str], ...]
    terms: tuple[Term, ...]
    lines: tuple[FlagLine, ...]
    range_text: str
    first_url: str | None
    previous_url: str | None
    next_url: str | None
    own_url: str
    open_url: str
    json_url: str
    csv_url: str
    can_reopen: bool
    can_triage: bool
    rest_until: str
    earliest: str
    refused: Refused


def flag_list_view(
    page: FlagPage,
    address: FlagListAddress,
    *,
    now: datetime,
    without: Sequence[int] = (),
    refused: Refused,
) -> FlagListView:
    """Present a page of flags.

    `without` says, only where nothing matched, how many flags each field alone hides.
    """
    return FlagListView(
        title=_title(address),
        states=_states(page, address),
        state_word=address.state_word,
        severities=_severities(address),
        rules=_rules(address),
        text_fields=_text_fields(address),
        kept=(("run", address.fields.run),) if address.fields.run else (),
        terms=_terms(address, without),
        lines=tuple(
            _line(
                entry,
                now=now,
                shows_state=address.state in {None, FlagState.SNOOZED},
                is_selected=entry.flag.id in refused.selected,
            )
            for entry in page.entries
        ),
        range_text=_range_text(page, address),
        first_url=address.at(None).url() if page.previous else None,
        previous_url=_page_url(address, page.previous),
        next_url=_page_url(address, page.following),
        own_url=address.url(),
        open_url=FlagListAddress().url(),
        json_url=address.url("json"),
        csv_url=address.url("csv"),
        can_reopen=address.state not in {FlagState.OPEN, FlagState.CLOSED},
        can_triage=address.state is not FlagState.CLOSED,
        rest_until=f"{now + REST:%Y-%m-%d}",
        earliest=f"{now + timedelta(days=1):%Y-%m-%d}",
        refused=refused,
    )


def _token(entry: FlagEntry) -> str:
    """A flag with the last change that its reader has seen: "31.205"."""
    return f"{entry.flag.id}.{entry.revision}"


def _line(entry: FlagEntry, *, now: datetime, shows_state: bool, is_selected: bool) -> FlagLine:
    flag, content = entry.flag, entry.flag.content
    about = (
        numbers.shortened(entry.run_name, longest=48),
        found_text(content.evidence),
        numbers.shortened(entry.dataset, longest=32),
    )
    return FlagLine(
        number=flag.id,
        name=flag_name(flag.id),
        token=_token(entry),
        url=flag_url(flag.id),
        severity=severity_mark(flag.status.severity),
        title=flag_title(content, entry.task),
        about=" · ".join(part for part in about if part),
        message=content.message,
        opened=moment(flag.first_seen, now=now),
        assignee=flag.assignee,
        state=state_chip(flag.status, now) if shows_state else None,
        is_selected=is_selected,
    )


def _title(address: FlagListAddress) -> str:
    """The filter in words, for bookmarks and tabs."""
    state = "All" if address.state is None else address.state.value.capitalize()
    words = [f"{_word(key)} {value}" for key, value in address.fields.named()]
    return " · ".join([f"{state} flags", *words])


def _states(page: FlagPage, address: FlagListAddress) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            text if state is None else f"{text} {counted(page.counts[state])}",
            address.in_state(state).url(),
            address.state is state,
        )
        for text, state in SHOWN_STATES
    )


def _severities(address: FlagListAddress) -> tuple[Choice, ...]:
    chosen = address.fields.severity
    choices = [Choice("", "any", not chosen)]
    for severity in reversed(SEVERITIES[1:]):
        more = "" if severity is SEVERITIES[-1] else " or more severe"
        choices.append(Choice(severity, f"{severity}{more}", chosen == severity))
    return tuple(choices)


def _rules(address: FlagListAddress) -> tuple[Choice, ...]:
    chosen = address.fields.rule
    return (
        Choice("", "any", not chosen),
        *(
            Choice(rule.id, f"{rule.id} {rule.title}", chosen == rule.id)
            for rule in RULES.values()
        ),
    )


def _text_fields(address: FlagListAddress) -> tuple[TextField, ...]:
    wanted = address.fields
    return (
        TextField("class", "Class", wanted.class_label, "any"),
        TextField("dataset", "Dataset", wanted.dataset, "any"),
        TextField("model", "Model", wanted.model, "any"),
        TextField("assignee", "Assignee", wanted.assignee, f"a name or {NOBODY}"),
        TextField("project", "Project", wanted.project, "any"),
    )


def _terms(address: FlagListAddress, without: Sequence[int]) -> tuple[Term, ...]:
    effects = iter(without)
    found = []
    for key, value in address.fields.named():
        more = next(effects, None)
        text = f"{_word(key)} {numbers.shortened(value, longest=60)}"
        without_it = None if more is None else f"{counted(more)} without it"
        found.append(Term(text, address.without(key).url(), without_it))
    return tuple(found)


def _word(key: str) -> str:
    return _FIELD_WORDS.get(key, key)


def _range_text(page: FlagPage, address: FlagListAddress) -> str:
    counts = page.counts.values() if address.state is None else [page.counts[address.state]]
    total = sum(counts)
    shown = len(page.entries)
    more = "+" if any(count >= MOST_COUNTED for count in counts) else ""
    if shown == total and not more:
        return numbers.plural(total, "flag")
    return f"{numbers.count(shown)} of {numbers.count(total)}{more} flags"


def _page_url(address: FlagListAddress, place: FlagPlace | None) -> str | None:
    return None if place is None else address.at(place).url()
