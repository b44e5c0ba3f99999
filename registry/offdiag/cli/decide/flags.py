"""`offdiag flags …`: list and triage the flags of runs, and show them as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from offdiag.cli.call import Call, evaluate_waiting, registry_options
from offdiag.cli.documents import Server, ask, connected, ids_of_runs, note_unknown_name
from offdiag.cli.options import help_text, limit_option, with_options
from offdiag.cli.output import label, note, three_decimals
from offdiag.cli.tables import facts_table, filled_table
from offdiag.domain.number_text import beside, p_in_column
from offdiag.errors import InvalidInput
from offdiag.flags.lifecycle import MOST_COUNTED, Action, FlagState
from offdiag.flags.verdict import Certainty, Severity, why_undefined
from offdiag.metrics.metric_text import points_alone
from offdiag.records.base import Request
from offdiag.records.flag import (
    CountedFlags,
    Decided,
    Decisions,
    Flag,
    FlagExplained,
    FlagPage,
    FlagsQuery,
    MeasuredGain,
    SeenFlag,
    asked_flags,
    flag_document,
    flag_explained,
)
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    from offdiag.store.database import Database


STATES = ("open", "acknowledged", "snoozed", "dismissed", "closed")
SEVERITIES = ("info", "medium", "high", "critical")


def flag_number(text: str) -> int:
    """A flag number as in lists and pages: 31 or F-31."""
    number = text.upper().removeprefix("F-")
    if not (number.isascii() and number.isdigit()):
        raise click.BadParameter(f"{text!r} is not a flag. Write 31 or F-31.")
    return int(number)


@click.group()
def flags() -> None:
    """List and triage the flags of runs."""


@help_text(
    "flags list --at-least high",
    "flags list --run r_4bcd6fgh8jkm --state all",
    see=("flags show", "flags dismiss"),
)
@flags.command(name="list")
@click.option(
    "--state",
    type=click.Choice((*STATES, "all")),
    default="open",
    show_default=True,
    help="Only flags in this state, or all of them.",
)
@click.option(
    "--at-least",
    type=click.Choice(SEVERITIES),
    help="Only flags of at least this severity.",
)
@click.option("--rule", metavar="F4", help="Only flags of this rule.")
@click.option("--class", "class_label", metavar="CLASS", help="Only flags about this class.")
@click.option("--slice", metavar="SLICE", help="Only flags about this slice, such as site=z.")
@click.option(
    "--run", "run_id", metavar="RUN", callback=ids_of_runs, help="Only flags of this run."
)
@click.option("--dataset", help="Only flags of runs on this dataset.")
@click.option("--project", help="Only flags of runs of this project.")
@click.option("--assignee", metavar="NAME", help="Only flags assigned to this person.")
@click.option(
    "--hides-minority", is_flag=True, help="Only flags that show that accuracy hides a class."
)
@click.option(
    "--may-hide", is_flag=True, help="Only flags that show that accuracy may hide a class."
)
@limit_option("Maximum number of flags.", most=100_000)
@registry_options
def list_flags(
    *,
    state: str,
    at_least: str | None,
    hides_minority: bool,
    may_hide: bool,
    limit: int,
    run_id: str | None,
    call: Call,
    **wanted: Any,
) -> None:
    """List flags, most severe first."""
    query = FlagsQuery(
        state=None if state == "all" else FlagState(state),
        at_least=None if at_least is None else Severity(at_least),
        in_badge=True if hides_minority else None,
        may_hide=True if may_hide else None,
        run=run_id,
        **wanted,
    )
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            pages = list(registry.pages("/flags", FlagPage, query=query, limit=limit))
            found = CountedFlags(
                counts=pages[0].counts, flags=[flag for page in pages for flag in page.flags]
            )
            is_cut = pages[-1].next_page_token is not None
        else:
            evaluate_waiting(registry)
            found, following = asked_flags(registry, query, limit=limit)
            is_cut = following is not None
    call.print(found, _listed(found))
    if is_cut:
        note(f"More flags match; these are the first {limit:,}. --limit shows more.")
    if not found.flags:
        note_unknown_name(call.url, project=query.project, dataset=query.dataset)


def _listed(found: CountedFlags) -> Iterator[Table | str]:
    yield inbox_table(found) if found.flags else "There are no such flags."


@help_text("flags show F-31", see=("flags list",))
@flags.command()
@click.argument("flag_id", metavar="FLAG", type=flag_number)
@registry_options
def show(flag_id: int, call: Call) -> None:
    """Show a flag: its conditions, its history, and alternatives for its class."""
    path = f"/flags/{flag_id}/explanation"
    found = ask(call, Request(path, FlagExplained, lambda at: _stored_flag(at, flag_id)))
    call.print(found, detail_tables(found))


def _stored_flag(database: Database, flag_id: int) -> FlagExplained:
    from offdiag.services.flags.page import browse_flag

    return flag_explained(browse_flag(database, flag_id), database.clock())


_on_flags = with_options(
    click.argument("ids", metavar="FLAG…", type=flag_number, nargs=-1, required=True),
    click.option("--author", metavar="NAME", help="Author of the change.  [default: you]"),
    registry_options,
)
"""Arguments and options of all triage commands."""


@help_text("flags acknowledge F-31 F-32", see=("flags list", "flags show"))
@flags.command()
@_on_flags
def acknowledge(**where: Any) -> None:
    """Acknowledge flags."""
    _triage(Action.ACKNOWLEDGE, **where)


@help_text("flags snooze F-31 --until 2027-01-31", see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option(
    "--until",
    required=True,
    metavar="TIME",
    help="When they open again: 2026-12-01 or 2026-12-01T09:00+01:00; UTC without a zone.",
)
def snooze(*, until: str, **where: Any) -> None:
    """Snooze flags until a time."""
    _triage(Action.SNOOZE, until=_moment(until), **where)


@help_text(
    'flags dismiss F-31 --reason "The class is retired."', see=("flags list", "flags reopen")
)
@flags.command()
@_on_flags
@click.option("--reason", required=True, help="Why they do not matter.")
def dismiss(**where: Any) -> None:
    """Dismiss flags with a reason."""
    _triage(Action.DISMISS, **where)


@help_text("flags reopen F-31", see=("flags list", "flags show"))
@flags.command()
@_on_flags
def reopen(**where: Any) -> None:
    """Reopen flags."""
    _triage(Action.REOPEN, **where)


@help_text("flags assign F-31 --to ada", see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option(
    "--to", "assignee", metavar="NAME", help="The person. Without it, the flags are unassigned."
)
def assign(**where: Any) -> None:
    """Assign flags to a person."""
    _triage(Action.ASSIGN, **where)


@help_text('flags comment F-31 --text "Seen in the field too."', see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option("--text", required=True, help="The comment, as plain text.")
def comment(**where: Any) -> None:
    """Comment on flags."""
    _triage(Action.COMMENT, **where)


def _triage(
    action: Action, *, ids: tuple[int, ...], author: str | None, call: Call, **said: Any
) -> None:
    asked = Decisions(
        action=action,
        author=author or current_author(),
        flags=[SeenFlag(id=each) for each in ids],
        **said,
    )
    found = ask(
        call, Request("/flags/decisions", Decided, lambda at: _decided(at, asked), asked, "POST")
    )
    call.print(found, [f"{flag_name(flag.id)} is {state_of(flag)}." for flag in found.flags])


def _decided(database: Database, asked: Decisions) -> Decided:
    from offdiag.services.flags.page import browse_flag
    from offdiag.services.flags.triage import decide_flags

    said = dict(asked)
    ids = [flag.id for flag in said.pop("flags")]
    decide_flags(database, ids, said.pop("action"), **said)
    now = database.clock()
    entries = (browse_flag(database, flag_id).entry for flag_id in dict.fromkeys(ids))
    return Decided(flags=[flag_document(entry, now) for entry in entries])


def _moment(text: str) -> datetime:
    """The time in a text; UTC if it has no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not a time.",
            field="until",
            hint="Write 2026-12-01 or 2026-12-01T09:00+01:00.",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def flag_name(flag_id: int) -> str:
    """The name of a flag for people."""
    return f"F-{flag_id}"


def state_of(flag: Flag) -> str:
    """The state of a flag, with the time until which it is snoozed."""
    until = flag.snoozed_until if flag.state is FlagState.SNOOZED else None
    return f"{flag.state.value}{f' until {until:%Y-%m-%d %H:%M} UTC' if until else ''}"


def inbox_table(found: CountedFlags) -> Table:
    """One line for each flag, and the number of flags in each state."""
    return filled_table(
        ("flag", "severity", "rule", "class", "slice", "run", "dataset", "state", "message"),
        (
            (
                str(flag.id),
                flag.severity.value,
                f"{flag.rule}{' in sight' if flag.certainty is Certainty.IN_SIGHT else ''}",
                "" if flag.class_label is None else label(flag.class_label),
                flag.slice or "",
                f"{flag.run_name} ({flag.run})",
                flag.dataset,
                state_of(flag),
                flag.message,
            )
            for flag in found.flags
        ),
        caption=f"{', '.join(f'{_counted(n)} {state}' for state, n in found.counts.items())}.",
    )


def _counted(number: int) -> str:
    return f"{number:,}{'+' if number >= MOST_COUNTED else ''}"


def detail_tables(flag: FlagExplained) -> Iterable[Table]:
    """A flag with its conditions, history and alternatives."""
    yield facts_table(flag_name(flag.id), _facts(flag))
    yield filled_table(
        ("what", "measured", "", "threshold", "met"),
        (
            (
                str(each["what"]),
                why_undefined(each["what"], each.get("reason"), flag.evidence)
                if each["measured"] is None
                else beside(each["measured"], each["threshold"]),
                str(each["sign"]),
                f"{each['threshold']:.6g}",
                "yes" if each["holds"] else "no",
            )
            for each in flag.fired
        ),
        title="Conditions",
    )
    yield filled_table(
        ("when", "who", "what", "text"),
        (
            (_time(event.at), event.author or "evaluation", event.kind, event.text or "")
            for event in flag.history
        ),
        title="History",
    )
    if flag.better:
        yield _alternatives_table(flag)


def _facts(flag: FlagExplained) -> dict[str, str]:
    facts = {
        "rule": f"{flag.rule} v{flag.rule_version}{f': {flag.title}' if flag.title else ''}",
        "severity": flag.severity.value,
        "run": f"{flag.run_name} ({flag.run})",
        "dataset": flag.dataset,
        "class": flag.class_label,
        "slice": flag.slice,
        "message": flag.message,
        "state": state_of(flag),
        "reason": flag.reason,
        "assigned to": flag.assignee,
        "warning": _warning(flag),
        "first seen": _time(flag.first_seen),
        "last seen": _time(flag.last_seen),
        "help": flag.help,
    }
    return {name: text for name, text in facts.items() if text}


def _warning(flag: Flag) -> str | None:
    if flag.in_badge:
        return "accuracy hides a minority class"
    return "accuracy may hide a minority class" if flag.may_hide else None


def _alternatives_table(flag: FlagExplained) -> Table:
    return filled_table(
        ("run", "recall", "gained", "lost", "p", "accuracy"),
        (
            (
                f"{each.name} ({each.run})",
                "" if each.recall is None else three_decimals(each.recall),
                "" if each.recall_gain is None else str(each.recall_gain.won),
                "" if each.recall_gain is None else str(each.recall_gain.lost),
                "not paired" if each.p is None else p_in_column(each.p),
                _points(each.accuracy_gain),
            )
            for each in flag.better
        ),
        title=f"Alternatives for {label(flag.class_label or '')}",
        caption=f"p and CI are adjusted for {flag.compared_with} runs (Bonferroni).",
    )


def _points(gain: MeasuredGain | None) -> str:
    if gain is None:
        return ""
    value, low, high = map(points_alone, (gain.value, gain.low, gain.high))
    return f"{value} points ({low} to {high})"


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
