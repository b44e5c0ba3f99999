"""The page of a flag, and decisions about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from flask import Blueprint, flash, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.sentences import as_sentence, typeset
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.flags.lifecycle import FlagEventKind, FlagState
from offdiag.flags.problems import CAUSE_OF
from offdiag.records.flag import CHECK_COLUMNS, check_rows, flag_explained
from offdiag.services.flags.page import RANKED_KEYS, FlagDetail, browse_flag
from offdiag.services.flags.rules import rules_in
from offdiag.store.flags import FlagContent, FlagEvent
from offdiag.store.problems import problem_of_flag
from offdiag.store.run_neighbours import RankedValue
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, own_path
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.last_visit import open_problems
from offdiag_web.app.preferences import require_user_name
from offdiag_web.components import numbers
from offdiag_web.components.controls import NOBODY_NAMED, WROTE, HistoryLine
from offdiag_web.components.flags import (
    badge_chip,
    day,
    flag_name,
    flag_title,
    severity_mark,
    state_chip,
)
from offdiag_web.components.samples import ExampleStrip, example_strip, question_about
from offdiag_web.pages.flags.flag_evidence import alternatives_view, checks_view
from offdiag_web.pages.flags.problem_list import page_after
from offdiag_web.pages.flags.recall_by_size import (
    CLASS_COLUMNS,
    RecallFloor,
    SizeChart,
    class_rows,
    recall_floor,
    size_chart,
)
from offdiag_web.pages.flags.triage import ACTIONS, Refused, carry_out, read_decision, rest_days
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.flags import flag_classes_url, flag_url, problems_of_run
from offdiag_web.urls.run import run_url

_BY_PEOPLE = {
    FlagEventKind.ACKNOWLEDGED: "acknowledged it",
    FlagEventKind.SNOOZED: "snoozed it",
    FlagEventKind.DISMISSED: "dismissed it",
    FlagEventKind.REOPENED: "reopened it",
    FlagEventKind.ASSIGNED: "assigned it to",
    FlagEventKind.COMMENTED: WROTE,
}
_BY_ITSELF = {
    FlagEventKind.OPENED: "opened by an evaluation",
    FlagEventKind.CLOSED: "closed: the rule no longer raises it",
    FlagEventKind.REOPENED: "reopened",
    FlagEventKind.UPDATED: "another evaluation",
}
_QUOTED = frozenset({FlagEventKind.DISMISSED, FlagEventKind.COMMENTED})
"""Texts that people wrote themselves, shown line by line."""


def history_lines(events: Sequence[FlagEvent]) -> tuple[HistoryLine, ...]:
    """The history, oldest first, as in a discussion."""
    return tuple(_line(event) for event in events)


def _line(event: FlagEvent) -> HistoryLine:
    at = event.at
    if event.author is None and event.kind in _BY_ITSELF:
        why = f": {event.text}" if event.text else ""
        return HistoryLine(at, None, f"{_BY_ITSELF[event.kind]}{why}", None)
    what = _BY_PEOPLE.get(event.kind, event.kind.value)
    quote = event.text if event.kind in _QUOTED else None
    if quote is None and event.text:
        what = f"{what} {_readable(event)}"
    return HistoryLine(at, event.author or NOBODY_NAMED, what, quote)


def _readable(event: FlagEvent) -> str:
    """The text of an entry; the end of a snooze is stored in a format for machines."""
    text = event.text or ""
    if event.kind is not FlagEventKind.SNOOZED:
        return text
    try:
        until = datetime.fromisoformat(text.removeprefix("until "))
    except ValueError:
        return text
    return f"until {day(until)}"


_RANKED_WORDS = dict(zip(RANKED_KEYS, ("accuracy", "balanced accuracy"), strict=True))


def rank_sentence(ranks: Mapping[str, RankedValue]) -> str | None:
    """ "Accuracy 0.864 is rank 1 of 12, balanced accuracy 0.630 is rank 9 of 12." """
    parts = [_ranked(word, ranks[key]) for key, word in _RANKED_WORDS.items() if key in ranks]
    return as_sentence(", ".join(parts)) if parts else None


def _ranked(word: str, ranked: RankedValue) -> str:
    if ranked.value.value is None:
        return f"{word} is {ranked.value.undefined_text}"
    text = f"{word} {numbers.metric(ranked.value.value)}"
    if ranked.rank is None or ranked.n_runs < 2:
        return text
    return f"{text} is rank {numbers.count(ranked.rank)} of {numbers.count(ranked.n_runs)}"


def floor_of(detail: FlagDetail) -> RecallFloor | None:
    """The recall floor in the chart of a flag; None without results."""
    if detail.results is None:
        return None
    return recall_floor(
        detail.results.counted,
        gap=detail.thresholds.recall_gap,
        class_label=detail.entry.flag.content.class_label,
    )


def _chart(detail: FlagDetail) -> SizeChart | None:
    if detail.results is None or detail.entry.flag.content.slice is not None:
        return None
    return size_chart(
        detail.results.counted,
        floor_of(detail),
        class_label=detail.entry.flag.content.class_label,
    )


def _examples(run_id: str, content: FlagContent) -> ExampleStrip | None:
    cause = CAUSE_OF.get(content.rule)
    if cause is None:
        return None
    return example_strip(run_id, question_about(cause, content.class_label, content.slice))


def _rule_changes(detail: FlagDetail) -> str | None:
    """The rule version that raised the flag and what changed since, if it is outdated."""
    rule, version = detail.rule, detail.entry.flag.content.rule_version
    if rule is None or version >= rule.version:
        return None
    changes = " ".join(rule.changes[version - 1 :])
    return (
        f"Version {version} of {rule.id} raised this flag; version {rule.version} is current. "
        f"{changes}"
    )


def _outdated(detail: FlagDetail) -> str | None:
    if not detail.judged_by_others:
        return None
    return (
        "The rules or thresholds have changed since this flag was raised. A worker will "
        "re-evaluate the run soon."
    )


blueprint = Blueprint("flag", __name__)

_FLAG = "/flags/<int(max=9223372036854775807):number>"


@blueprint.get(_FLAG)
def page(number: int) -> Response:
    return _page(number, Refused())


@blueprint.get(f"{_FLAG}{DATA_FORMAT}")
def export(number: int, form: str) -> Response:
    flag = flag_explained(_detail(number), current_registry().database.clock())
    if form == "json":
        return json_response(flag)
    return csv_response(f"flag-{number}", CHECK_COLUMNS, check_rows(flag))


@blueprint.get(f"{_FLAG}/classes.csv")
def classes(number: int) -> Response:
    detail = _detail(number)
    rows = class_rows(detail.recalls, floor_of(detail))
    return csv_response(f"flag-{number}-classes", CLASS_COLUMNS, rows)


@blueprint.post(f"{_FLAG}/<any({', '.join(ACTIONS)}):action>")
def decide(number: int, action: str) -> Response:
    registry = current_registry()
    typed = request.form.to_dict()
    try:
        token = f"{number}.{typed.get('seen', '')}"
        decision = read_decision(action, [token], typed, author=require_user_name())
        flash(carry_out(registry.database, decision))
    except (Conflict, InvalidInput, NotFound) as error:
        return page_after(error, {**typed, "action": action}, partial(_page, number))
    open_problems().forget()
    return redirect(own_path(typed.get("back", flag_url(number))), 303)


def _page(number: int, refused: Refused) -> Response:
    detail, database = _detail(number), current_registry().database
    with database.read() as session:
        problem = problem_of_flag(session, number)
    now = database.clock()
    entry, flag, content = detail.entry, detail.entry.flag, detail.entry.flag.content
    label = content.class_label
    state = flag.status.state_at(now)
    is_closed = state is FlagState.CLOSED
    html = render_template(
        "flags/flag.html",
        flag=flag,
        entry=entry,
        content=content,
        name=flag_name(flag.id),
        title=flag_title(content, entry.task),
        url=flag_url(flag.id),
        severity=severity_mark(flag.status.severity),
        rule=detail.rule,
        state=state_chip(flag.status, now),
        badge=badge_chip(content),
        run_url=run_url(flag.run_id),
        dataset_url=DatasetAddress(entry.project, entry.dataset).url(),
        ranks=rank_sentence(detail.ranks),
        message=typeset(content.message),
        opened=flag.first_seen,
        seen=flag.last_seen,
        reason=flag.status.reason if flag.status.is_dismissed else None,
        rule_changes=_rule_changes(detail),
        outdated=_outdated(detail),
        chart=_chart(detail),
        checks=checks_view(detail),
        examples=_examples(flag.run_id, content),
        better=None if label is None else alternatives_view(detail.better, label),
        history=history_lines(detail.history),
        can_acknowledge=not is_closed and state is not FlagState.ACKNOWLEDGED,
        can_triage=not is_closed,
        can_reopen=not is_closed and state is not FlagState.OPEN,
        rest_days=rest_days(now),
        others_url=problems_of_run(flag.run_id),
        problem=problem,
        json_url=flag_url(flag.id, "json"),
        csv_url=flag_url(flag.id, "csv"),
        classes_url=flag_classes_url(flag.id),
        refused=refused,
    )
    return make_response(html)


def _detail(number: int) -> FlagDetail:
    registry = current_registry()
    rules = rules_in(registry.settings)
    return browse_flag(registry.database, number, rules)
