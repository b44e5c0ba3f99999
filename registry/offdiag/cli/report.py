"""`offdiag report …`: create, show and export editions of reports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.registry import opened, settings_for
from offdiag.cli.report_options import ReportInput, report_options

_project = click.option("--project", help="Project of the report.  [default: the configured one]")
_name = click.argument("name")
_number = click.argument("number", type=int, required=False)


@click.group()
def report() -> None:
    """Create and show reports: what changed significantly since the previous edition."""


@help_text(
    "report create friday --dataset holdout --folder friday",
    see=("report show", "schedule add"),
    arguments={
        "name": "Name of the report.",
        "number": "Number of the edition.  [default: the newest]",
    },
    no="the edition failed or a delivery was refused",
)
@report.command()
@_name
@_project
@report_options
@click.option("--zone", default="UTC", show_default=True, help="Time zone of the edition.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the results.",
)
@url_option
@json_option
@click.pass_context
def create(
    context: click.Context,
    /,
    *,
    name: str,
    project: str | None,
    zone: str,
    timeout: float,
    url: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Create an edition of report NAME now. It is compared with the previous edition."""
    from offdiag.cli.report_tables import present_edition
    from offdiag.services.reports.edition import report_now

    settings = settings_for(url)
    given_report = ReportInput(**given)
    scope = given_report.scope(project or settings.project)
    with opened(settings) as database:
        asked = report_now(
            database, name=name, scope=scope, delivery=given_report.targets(), zone=zone
        )
        present_edition(
            context,
            database,
            settings,
            asked,
            project=scope.project,
            timeout=timeout,
            as_json=as_json,
        )


@help_text("report list", "report list --json", see=("report show",))
@report.command(name="list")
@click.option("--project", help="Only reports of this project.")
@url_option
@json_option
def list_reports(project: str | None, url: str | None, as_json: bool) -> None:
    """List reports with their newest edition."""
    from offdiag.cli.report_tables import report_table
    from offdiag.records.report import report_list
    from offdiag.services.reports.page import reports_page

    with opened(settings_for(url)) as database:
        page = reports_page(database, project=project)
    if as_json:
        print_json(report_list(page).plain())
    elif page.entries:
        print_tables(report_table(page.entries))
    else:
        click.echo("There are no reports.")


@help_text(
    "report show weekly",
    "report show weekly 3 --json",
    see=("report list", "report export"),
    arguments={
        "name": "Name of the report.",
        "number": "Number of the edition.  [default: the newest]",
    },
)
@report.command()
@_name
@_number
@_project
@url_option
@json_option
def show(
    name: str, number: int | None, project: str | None, url: str | None, as_json: bool
) -> None:
    """Show an edition of a report, the newest without NUMBER."""
    from offdiag.cli.report_tables import edition_tables
    from offdiag.records.report import issue_with_figures
    from offdiag.services.reports.page import issue_page

    settings = settings_for(url)
    with opened(settings) as database:
        page = issue_page(database, project=project or settings.project, name=name, number=number)
    if as_json:
        print_json(issue_with_figures(page).plain())
    else:
        print_tables(*edition_tables(page))


@help_text(
    "report export weekly --format markdown",
    "report export weekly 3 --output 3.html",
    see=("report show",),
    arguments={
        "name": "Name of the report.",
        "number": "Number of the edition.  [default: the newest]",
    },
    no_json="--format json exports the edition as JSON",
)
@report.command()
@_name
@_number
@_project
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "markdown", "json", "csv"]),
    default="html",
    show_default=True,
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write.  [default: stdout]"
)
@url_option
def export(
    *,
    name: str,
    number: int | None,
    project: str | None,
    kind: str,
    output: Path | None,
    url: str | None,
) -> None:
    """Export a file of an edition, byte for byte as it was created."""
    from offdiag.services.reports.page import edition_file

    settings = settings_for(url)
    with opened(settings) as database:
        file = edition_file(
            database, project=project or settings.project, name=name, number=number, kind=kind
        )
    if output is None:
        sys.stdout.buffer.write(file.content)
    else:
        output.write_bytes(file.content)
