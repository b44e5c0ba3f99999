"""`offdiag schedule …`: reports at scheduled times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from offdiag.cli.call import Call, database_options, opened, project_option
from offdiag.cli.options import help_text, timeout_option
from offdiag.cli.read.report import ReportInput, report_options
from offdiag.cli.read.report_tables import present_edition, waited_for
from offdiag.cli.tables import facts_table, filled_table
from offdiag.domain.schedule import due_text
from offdiag.domain.sentences import visible
from offdiag.reports.scope import condition_text, terms_text

if TYPE_CHECKING:
    from offdiag.services.reports.page import ReportsPage
    from offdiag.services.schedules.due import DueTime
    from offdiag.services.schedules.page import ScheduleEntry
    from offdiag.store.database import Database
    from offdiag.store.reports import EditionRecord

_name = click.argument("name")
_help = partial(help_text, arguments={"name": "Name of the schedule."})
_project = project_option("Project of the report.")


@click.group()
def schedule() -> None:
    """Create reports at scheduled times."""


@_help(
    'schedule add weekly --cron "0 7 * * mon" --dataset holdout --folder weekly',
    see=("schedule list", "report create"),
)
@schedule.command()
@_name
@click.option(
    "--cron",
    required=True,
    metavar="FIELDS",
    help="Minute, hour, day of month, month, day of week: '0 6 * * 1' is Mondays at 06:00.",
)
@click.option("--zone", default="UTC", show_default=True, help="Time zone, such as Europe/Berlin.")
@_project
@report_options
@database_options
def add(*, name: str, cron: str, zone: str, project: str, call: Call, **given: Any) -> None:
    """Create schedule NAME; show its next times and problems with its targets."""
    from offdiag.cli.output import note
    from offdiag.records.report import targets_of
    from offdiag.services.delivery.task import target_problems
    from offdiag.services.schedules.edit import add_schedule

    settings = call.settings
    report = ReportInput(**given)
    scope = report.scope(project)
    with opened(settings) as database:
        targets = targets_of(report.delivery())
        add_schedule(database, name=name, cron=cron, zone=zone, scope=scope, delivery=targets)
        _show(database, scope.project, name, call)
    for problem in target_problems(targets, settings):
        note(f"With the settings of this machine a report could not be delivered. {problem}")


@help_text("schedule list", "schedule list --json", see=("schedule show",))
@schedule.command(name="list")
@click.option("--project", help="Only schedules of this project.")
@database_options
def list_schedules(project: str | None, call: Call) -> None:
    """List schedules with their next times, and whether the scheduler is up."""
    from offdiag.records.schedule import schedule_list
    from offdiag.services.schedules.page import schedules_page

    with call.opened() as database:
        page = schedules_page(database, project=project)
    listed = _schedule_table(page.entries) if page.entries else "There are no schedules."
    call.print(schedule_list(page), [listed, _scheduler_sentence(page.reports)])


@_help("schedule show weekly", see=("schedule list",))
@schedule.command()
@_name
@_project
@database_options
def show(name: str, project: str, call: Call) -> None:
    """Show a schedule and its next five times."""
    with call.opened() as database:
        _show(database, project, name, call)


@_help("schedule pause weekly", see=("schedule resume",))
@schedule.command()
@_name
@_project
@database_options
def pause(name: str, project: str, call: Call) -> None:
    """Pause a schedule until it is resumed."""
    from offdiag.services.schedules.edit import pause_schedule

    with call.opened() as database:
        pause_schedule(database, project=project, name=name)
        _show(database, project, name, call)


@_help("schedule resume weekly", see=("schedule pause",))
@schedule.command()
@_name
@_project
@database_options
def resume(name: str, project: str, call: Call) -> None:
    """Resume a paused schedule, from its next time on."""
    from offdiag.services.schedules.edit import resume_schedule

    with call.opened() as database:
        resume_schedule(database, project=project, name=name)
        _show(database, project, name, call)


@_help(
    "schedule run weekly --timeout 120",
    see=("report show", "report create"),
    no="the edition failed or a delivery was refused",
)
@schedule.command()
@_name
@_project
@timeout_option("How long to wait for the results.")
@database_options
def run(*, name: str, project: str, timeout: float, call: Call) -> None:
    """Create an edition of a scheduled report now, in addition to the scheduled ones."""
    from offdiag.services.schedules.edit import run_schedule

    with call.opened() as database:
        requested = run_schedule(database, project=project, name=name)
        found = waited_for(database, requested, project=project, timeout_s=timeout)
    present_edition(found, call)


@_help("schedule remove weekly", see=("schedule pause",))
@schedule.command()
@_name
@_project
@database_options
def remove(name: str, project: str, call: Call) -> None:
    """Remove a schedule. Its editions stay."""
    from offdiag.records.schedule import Removed
    from offdiag.services.schedules.edit import remove_schedule

    with call.opened() as database:
        remove_schedule(database, project=project, name=name)
    call.print(Removed(project=project, name=name), f"{name} is removed.")


def _show(database: Database, project: str, name: str, call: Call) -> None:
    from offdiag.records.schedule import planned_schedule
    from offdiag.services.schedules.page import schedule_page

    entry = schedule_page(database, project=project, name=name)
    call.print(planned_schedule(entry), _schedule_facts(entry))


def _schedule_table(entries: Sequence[ScheduleEntry]) -> Table:
    return filled_table(
        ("report", "dataset", "schedule", "next", "last edition"),
        [
            (
                f"{entry.schedule.project}/{entry.schedule.name}",
                entry.report.scope.dataset,
                entry.problem or entry.words,
                _time_text(entry.next_due_times[0]) if entry.next_due_times else "paused",
                _edition_text(entry.report.last),
            )
            for entry in entries
        ],
    )


def _schedule_facts(entry: ScheduleEntry) -> Table:
    record, scope = entry.schedule, entry.report.scope
    facts = {
        "project": record.project,
        "schedule": entry.words,
        "cron": f"{record.cron} ({record.zone})",
        "problem": entry.problem,
        "next": "paused"
        if not record.enabled
        else "\n".join(map(_time_text, entry.next_due_times)),
        "dataset": scope.dataset,
        "runs": terms_text(scope.terms),
        "metrics": ", ".join(scope.metrics),
        "slices": ", ".join(scope.slices),
        "baseline": scope.baseline,
        "cost matrix": scope.cost_matrix,
        "alerts": ", ".join(map(condition_text, scope.alerts)),
        "sent to": ", ".join(entry.report.targets) or "no one; it is stored here",
        "last due": due_text(record.last_fire or ""),
        "last edition": _edition_text(entry.report.last),
    }
    shown = {name: text for name, text in facts.items() if text}
    lines = {}
    for name, text in shown.items():
        first, *others = text.splitlines()
        lines[name] = first
        lines |= {" " * place: line for place, line in enumerate(others, start=1)}
    return facts_table(f"Schedule {visible(record.name)}", lines)


def _scheduler_sentence(page: ReportsPage) -> str:
    """Whether a scheduler is running that creates scheduled editions."""
    if page.has_scheduler:
        return f"The scheduler is up; its last heartbeat was {page.schedulers[0].age_s:.0f} s ago."
    if page.schedulers:
        return (
            f"NO SCHEDULER: the last heartbeat was {page.schedulers[0].age_s:.0f} s ago. "
            "Start offdiag worker or offdiag serve."
        )
    return "NO SCHEDULER is running. Start offdiag worker or offdiag serve."


def _time_text(due: DueTime) -> str:
    return f"{due.wall:%a %Y-%m-%d %H:%M} {due.zone}"


def _edition_text(edition: EditionRecord | None) -> str:
    if edition is None:
        return ""
    result = visible(edition.headline or edition.error or "")
    return f"#{edition.number} {edition.state.value}: {result}"
