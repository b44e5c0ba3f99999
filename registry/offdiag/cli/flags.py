"""`offdiag flags …`: list and triage the flags of runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.database import Database
    from offdiag.store.flags import FlagRecord

STATES = ("open", "acknowledged", "snoozed", "dismissed", "closed")
SEVERITIES = ("info", "medium", "high", "critical")
Command = TypeVar("Command", bound=Callable[..., Any])


def flag_number(text: str) -> int:
    """A flag as lists and pages name it: 31 or F-31."""
    number = text.upper().removeprefix("F-")
    if not (number.isascii() and number.isdigit()):
        raise click.BadParameter(f"{text!r} is no flag. Write 31 or F-31.")
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
)
@click.option(
    "--at-least",
    type=click.Choice(SEVERITIES),
    help="Only flags of at least this severity.",
)
@click.option("--rule", metavar="F4", help="Only flags of this rule.")
@click.option("--class", "class_label", metavar="CLASS", help="Only flags about this class.")
@click.option("--run", "run_id", metavar="RUN", help="Only flags of this run.")
@click.option("--dataset", help="Only flags of runs on this dataset.")
@click.option("--project", help="Only flags of runs of this project.")
@click.option("--assignee", metavar="NAME", help="Only flags assigned to this person.")
@click.option(
    "--hides-minority", is_flag=True, help="Only flags that show that accuracy hides a class."
)
@click.option(
    "--may-hide", is_flag=True, help="Only flags that show that accuracy may hide a class."
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@url_option
@json_option
def list_flags(
    *,
    state: str,
    at_least: str | None,
    hides_minority: bool,
    may_hide: bool,
    limit: int,
    url: str | None,
    as_json: bool,
    **wanted: Any,
) -> None:
    """List flags, most severe first."""
    from offdiag.cli.flag_tables import inbox_table
    from offdiag.flags.lifecycle import FlagState
    from offdiag.flags.verdict import Severity
    from offdiag.records.flag import CountedFlags, flag_document
    from offdiag.services.flags.page import browse_flags
    from offdiag.store.flags import FlagFilter

    meant = FlagFilter(
        state=None if state == "all" else FlagState(state),
        at_least=None if at_least is None else Severity(at_least),
        in_badge=True if hides_minority else None,
        may_hide=True if may_hide else None,
        **wanted,
    )
    with opened(settings_for(url)) as database:
        page = browse_flags(database, meant, limit=limit)
        now = database.clock()
    if as_json:
        listed = CountedFlags(
            counts={each.value: count for each, count in page.counts.items()},
            flags=[flag_document(entry, now) for entry in page.entries],
        )
        print_json(listed.plain())
    elif page.entries:
        print_tables(inbox_table(page, now))
    else:
        click.echo("There are no such flags.")


@help_text("flags show F-31", see=("flags list",))
@flags.command()
@click.argument("flag_id", metavar="FLAG", type=flag_number)
@url_option
@json_option
def show(flag_id: int, url: str | None, as_json: bool) -> None:
    """Show a flag: its conditions, its history, and alternatives for its class."""
    from offdiag.cli.flag_tables import detail_tables
    from offdiag.records.flag import flag_explained
    from offdiag.services.flags.page import browse_flag

    with opened(settings_for(url)) as database:
        detail = browse_flag(database, flag_id)
        now = database.clock()
    if as_json:
        print_json(flag_explained(detail, now).plain())
    else:
        print_tables(*detail_tables(detail, now))


def _on_flags(command: Command) -> Command:
    """Arguments and options of all triage commands."""
    for option in (
        json_option,
        url_option,
        click.option("--author", metavar="NAME", help="Author of the change.  [default: you]"),
        click.argument("ids", metavar="FLAG…", type=flag_number, nargs=-1, required=True),
    ):
        command = option(command)
    return command


@help_text("flags acknowledge F-31 F-32", see=("flags list", "flags show"))
@flags.command()
@_on_flags
def acknowledge(*, ids: tuple[int, ...], **where: Any) -> None:
    """Acknowledge flags."""
    from offdiag.services.flags.triage import acknowledge_flags

    _triage(
        lambda database, author: acknowledge_flags(database, ids, author=author),
        **where,
    )


@help_text("flags snooze F-31 --until 2027-01-31", see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option(
    "--until",
    required=True,
    metavar="TIME",
    help="When they are open again: 2026-12-01 or 2026-12-01T09:00+01:00; UTC without a zone.",
)
def snooze(*, ids: tuple[int, ...], until: str, **where: Any) -> None:
    """Snooze flags until a time."""
    from offdiag.services.flags.triage import snooze_flags

    moment = _moment(until)
    _triage(
        lambda database, author: snooze_flags(database, ids, until=moment, author=author),
        **where,
    )


@help_text(
    'flags dismiss F-31 --reason "The class is retired."', see=("flags list", "flags reopen")
)
@flags.command()
@_on_flags
@click.option("--reason", required=True, help="Why they do not matter.")
def dismiss(*, ids: tuple[int, ...], reason: str, **where: Any) -> None:
    """Dismiss flags with a reason."""
    from offdiag.services.flags.triage import dismiss_flags

    _triage(
        lambda database, author: dismiss_flags(database, ids, reason=reason, author=author),
        **where,
    )


@help_text("flags reopen F-31", see=("flags list", "flags show"))
@flags.command()
@_on_flags
def reopen(*, ids: tuple[int, ...], **where: Any) -> None:
    """Reopen flags."""
    from offdiag.services.flags.triage import reopen_flags

    _triage(lambda database, author: reopen_flags(database, ids, author=author), **where)


@help_text("flags assign F-31 --to ada", see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option(
    "--to", "assignee", metavar="NAME", help="The person; without it flags are unassigned."
)
def assign(*, ids: tuple[int, ...], assignee: str | None, **where: Any) -> None:
    """Assign flags to a person."""
    from offdiag.services.flags.triage import assign_flags

    _triage(
        lambda database, author: assign_flags(database, ids, assignee=assignee, author=author),
        **where,
    )


@help_text('flags comment F-31 --text "Seen in the field too."', see=("flags list", "flags show"))
@flags.command()
@_on_flags
@click.option("--text", required=True, help="The comment, as plain text.")
def comment(*, ids: tuple[int, ...], text: str, **where: Any) -> None:
    """Comment on flags."""
    from offdiag.services.flags.triage import comment_on_flags

    _triage(
        lambda database, author: comment_on_flags(database, ids, text=text, author=author),
        **where,
    )


def _triage(
    act: Callable[[Database, str | None], list[FlagRecord]],
    *,
    author: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    from offdiag.cli.flag_tables import flag_name, state_of
    from offdiag.records.flag import Decided, flag_document
    from offdiag.sdk import provenance
    from offdiag.services.flags.page import browse_flag

    with opened(settings_for(url)) as database:
        found = act(database, author or provenance.author())
        now = database.clock()
        if as_json:
            entries = [browse_flag(database, flag.id).entry for flag in found]
            print_json(Decided(flags=[flag_document(each, now) for each in entries]).plain())
            return
    for flag in found:
        click.echo(f"{flag_name(flag.id)} is {state_of(flag, now)}.")


def _moment(text: str) -> datetime:
    """The time that `text` means; UTC without a zone."""
    from datetime import UTC

    from offdiag.errors import InvalidInput

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not a time.",
            field="until",
            hint="Write 2026-12-01 or 2026-12-01T09:00+01:00.",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
