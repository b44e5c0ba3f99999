"""`offdiag schedule …`: reports at scheduled times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.read.report import ReportInput, report_options
from offdiag.cli.registry import database_option, opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.database import Database

_name = click.argument("name")
_project = click.option("--project", help="Project of the report.  [default: the configured one]")
_any_project = click.option("--project", help="Only schedules of this project.")


@click.group()
def schedule() -> None:
    """Create reports at scheduled times."""


@help_text(
    'schedule add weekly --cron "0 7 * * mon" --dataset holdout --folder weekly',
    see=("schedule list", "report create"),
    arguments={"name": "Name of the schedule."},
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
@database_option
@json_option
def add(
    *,
    name: str,
    cron: str,
    zone: str,
    project: str | None,
    url: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Create schedule NAME; show its next times and problems with its targets."""
    from offdiag.cli.output import note
    from offdiag.services.delivery.task import target_problems
    from offdiag.services.schedules.edit import add_schedule

    settings = settings_for(url)
    report = ReportInput(**given)
    scope = report.scope(project or settings.project)
    with opened(settings) as database:
        targets = report.targets()
        add_schedule(database, name=name, cron=cron, zone=zone, scope=scope, delivery=targets)
        _show(database, scope.project, name, as_json=as_json)
    for problem in target_problems(targets, settings):
        note(f"With the settings of this machine a report could not be delivered. {problem}")


@help_text("schedule list", "schedule list --json", see=("schedule show",))
@schedule.command(name="list")
@_any_project
@database_option
@json_option
def list_schedules(project: str | None, url: str | None, as_json: bool) -> None:
    """List schedules with their next times, and whether the scheduler is up."""
    from offdiag.cli.read.report_tables import schedule_table, scheduler_sentence
    from offdiag.records.report import schedule_list
    from offdiag.services.schedules.page import schedules_page

    with opened(settings_for(url)) as database:
        page = schedules_page(database, project=project)
    if as_json:
        print_json(schedule_list(page).plain())
        return
    if page.entries:
        print_tables(schedule_table(page.entries))
    else:
        click.echo("There are no schedules.")
    click.echo(scheduler_sentence(page.reports))


@help_text(
    "schedule show weekly", see=("schedule list",), arguments={"name": "Name of the schedule."}
)
@schedule.command()
@_name
@_project
@database_option
@json_option
def show(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show a schedule and its next five times."""

    settings = settings_for(url)
    with opened(settings) as database:
        _show(database, project or settings.project, name, as_json=as_json)


@help_text(
    "schedule pause weekly", see=("schedule resume",), arguments={"name": "Name of the schedule."}
)
@schedule.command()
@_name
@_project
@database_option
@json_option
def pause(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Pause a schedule until it is resumed."""
    from offdiag.services.schedules.edit import pause_schedule

    settings = settings_for(url)
    where = project or settings.project
    with opened(settings) as database:
        pause_schedule(database, project=where, name=name)
        _show(database, where, name, as_json=as_json)


@help_text(
    "schedule resume weekly", see=("schedule pause",), arguments={"name": "Name of the schedule."}
)
@schedule.command()
@_name
@_project
@database_option
@json_option
def resume(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Resume a paused schedule, from its next time on."""
    from offdiag.services.schedules.edit import resume_schedule

    settings = settings_for(url)
    where = project or settings.project
    with opened(settings) as database:
        resume_schedule(database, project=where, name=name)
        _show(database, where, name, as_json=as_json)


@help_text(
    "schedule run weekly --timeout 120",
    see=("report show", "report create"),
    arguments={"name": "Name of the schedule."},
    no="the edition failed or a delivery was refused",
)
@schedule.command()
@_name
@_project
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the results.",
)
@database_option
@json_option
@click.pass_context
def run(
    context: click.Context,
    *,
    name: str,
    project: str | None,
    timeout: float,
    url: str | None,
    as_json: bool,
) -> None:
    """Create an edition of a scheduled report now, in addition to the scheduled ones."""
    from offdiag.cli.read.report_tables import present_edition, waited_for
    from offdiag.services.schedules.edit import run_schedule

    settings = settings_for(url)
    where = project or settings.project
    with opened(settings) as database:
        asked = run_schedule(database, project=where, name=name)
        found = waited_for(database, asked, project=where, timeout_s=timeout)
    present_edition(context, found, as_json=as_json)


@help_text(
    "schedule remove weekly", see=("schedule pause",), arguments={"name": "Name of the schedule."}
)
@schedule.command()
@_name
@_project
@database_option
@json_option
def remove(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Remove a schedule. Its editions stay."""
    from offdiag.records.report import Removed
    from offdiag.services.schedules.edit import remove_schedule

    settings = settings_for(url)
    where = project or settings.project
    with opened(settings) as database:
        remove_schedule(database, project=where, name=name)
    if as_json:
        print_json(Removed(project=where, name=name).plain())
    else:
        click.echo(f"{name} is removed.")


def _show(database: Database, project: str, name: str, *, as_json: bool) -> None:
    from offdiag.cli.read.report_tables import schedule_facts
    from offdiag.records.report import planned_schedule
    from offdiag.services.schedules.page import schedule_page

    entry = schedule_page(database, project=project, name=name)
    if as_json:
        print_json(planned_schedule(entry).plain())
    else:
        print_tables(schedule_facts(entry))
