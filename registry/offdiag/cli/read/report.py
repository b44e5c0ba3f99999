"""`offdiag report …`: create, show and export editions of reports."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, evaluate_waiting, project_option, registry_options
from offdiag.cli.documents import Server, ask, connected, ids_of_runs
from offdiag.cli.options import help_text, timeout_option, url_option, with_options
from offdiag.cli.read.report_tables import (
    PENDING,
    edition_tables,
    present_edition,
    report_table,
    waited_for,
)
from offdiag.domain.texts import name_segment
from offdiag.errors import NotFound
from offdiag.records.base import InProject, Request
from offdiag.records.report import (
    AskedEdition,
    EditionsQuery,
    EditionWithFigures,
    NewReport,
    ReportDetail,
    ReportList,
    SchedulesQuery,
    Target,
    asked_reports,
    edition_with_figures,
    scope_of_report,
    targets_of,
)
from offdiag.sdk.remote.connection import delays

if TYPE_CHECKING:
    from offdiag.reports.scope import ReportScope
    from offdiag.store.database import Database


@dataclass(frozen=True, slots=True)
class ReportInput:
    """The options of a report as they were given."""

    dataset: str
    model: str | None
    name_contains: str | None
    tag: tuple[str, ...]
    baseline: str | None
    slice_: tuple[str, ...]
    metric: tuple[str, ...]
    alert: tuple[str, ...]
    cost_matrix: str | None
    folder: tuple[str, ...]
    email: tuple[str, ...]
    webhook: tuple[str, ...]
    notify: tuple[str, ...]

    def scope(self, project: str) -> ReportScope:
        """The scope of the report. Raises `InvalidInput`."""
        from offdiag.reports.scope import DEFAULT_METRICS, ReportScope, RunTerm, TermField
        from offdiag.services.reports.alerts import alert_condition

        terms = [RunTerm(TermField.TAG, *_tag(text)) for text in self.tag]
        if self.model is not None:
            terms.append(RunTerm(TermField.MODEL, self.model))
        if self.name_contains is not None:
            terms.append(RunTerm(TermField.NAME, self.name_contains))
        return ReportScope(
            project=project,
            dataset=self.dataset,
            terms=tuple(terms),
            baseline=self.baseline,
            slices=self.slice_,
            metrics=self.metric or DEFAULT_METRICS,
            alerts=tuple(map(alert_condition, self.alert)),
            cost_matrix=self.cost_matrix,
        )

    def delivery(self) -> list[Target]:
        """The targets of the report, as in a request."""
        return [
            *(Target(folder=each) for each in self.folder),
            *(Target(email=each) for each in self.email),
            *(Target(webhook=each) for each in self.webhook),
            *(Target(notify=each) for each in self.notify),
        ]


def _tag(text: str) -> tuple[str, str | None]:
    key, separator, value = text.partition("=")
    return (key, value) if separator else (key, None)


report_options = with_options(
    click.option("--dataset", required=True, help="Dataset whose runs are reported."),
    click.option("--model", help="Only runs of this model; * matches any characters."),
    click.option("--name-contains", metavar="TEXT", help="Only runs whose name contains this."),
    click.option("--tag", multiple=True, metavar="KEY[=VALUE]", help="Only runs with this tag."),
    click.option(
        "--baseline",
        metavar="RUN",
        callback=ids_of_runs,
        help="Run that the others are compared with.",
    ),
    click.option(
        "--slice",
        "slice_",
        multiple=True,
        metavar="SLICE",
        help="Slice to report in addition to all examples, such as country=DE.",
    ),
    click.option(
        "--metric",
        multiple=True,
        metavar="KEY",
        help="Metric to report; runs are ranked by the first.  "
        "[default: balanced_accuracy, mcc, macro_f1, overall_accuracy; for multi-label runs "
        "macro_f1, example_jaccard, subset_accuracy, hamming_loss]",
    ),
    click.option(
        "--alert",
        multiple=True,
        metavar="CONDITION",
        help="Warn when the whole interval is beyond a limit, such as 'recall[df]<0.5'.",
    ),
    click.option(
        "--cost-matrix",
        metavar="NAME[@VERSION]",
        help="Cost matrix for reporting costs; its newest version unless you give one.",
    ),
    click.option(
        "--folder",
        multiple=True,
        metavar="NAME",
        help="Write the files to this folder of reports.",
    ),
    click.option(
        "--email", multiple=True, metavar="ADDRESS", help="Send the report to this address."
    ),
    click.option(
        "--webhook", multiple=True, metavar="URL", help="Post a signed summary to this URL."
    ),
    click.option(
        "--notify",
        multiple=True,
        metavar="NAME",
        help="Send a summary to this target of the setting notify.targets.",
    ),
)
"""All options of a report; the command gets them as keywords of `ReportInput`."""

_project = project_option("Project of the report.")
_name = click.argument("name")
_number = click.argument("number", type=int, required=False)
_help = partial(
    help_text,
    arguments={
        "name": "Name of the report.",
        "number": "Number of the edition.  [default: the newest]",
    },
)


@click.group()
def report() -> None:
    """Create and show reports: what changed significantly since the previous edition."""


@_help(
    "report create friday --dataset holdout --folder friday",
    see=("report show", "schedule add"),
    no="the edition failed or a delivery was refused",
)
@report.command()
@_name
@_project
@report_options
@click.option("--zone", default="UTC", show_default=True, help="Time zone of the edition.")
@timeout_option("How long to wait for the results.")
@registry_options
def create(
    *,
    name: str,
    project: str,
    zone: str,
    timeout: float,
    call: Call,
    **given: Any,
) -> None:
    """Create an edition of report NAME now. It is compared with the previous edition."""
    report_input = ReportInput(**given)
    scope = report_input.scope(project)
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            asked = NewReport(
                project=scope.project,
                name=name,
                zone=zone,
                scope=scope_of_report(scope),
                delivery=report_input.delivery(),
            )
            found = _created_on_server(registry, asked, timeout_s=timeout)
        else:
            found = _created(registry, name, scope, report_input, zone, timeout_s=timeout)
    present_edition(found, call)


def _created(
    database: Database,
    name: str,
    scope: ReportScope,
    given: ReportInput,
    zone: str,
    *,
    timeout_s: float,
) -> EditionWithFigures:
    from offdiag.services.reports.edition import report_now

    evaluate_waiting(database)
    asked = report_now(
        database, name=name, scope=scope, delivery=targets_of(given.delivery()), zone=zone
    )
    return waited_for(database, asked, project=scope.project, timeout_s=timeout_s)


def _created_on_server(
    server: Server, asked: NewReport, *, timeout_s: float
) -> EditionWithFigures:
    made = server.ask("/reports", AskedEdition, asked, method="POST")
    give_up_at = time.monotonic() + timeout_s
    for delay_s in delays():
        found = _edition(server, asked.project, made.name, made.number)
        left_s = give_up_at - time.monotonic()
        if found.state != PENDING or left_s <= 0:
            return found
        time.sleep(min(delay_s, left_s))
    raise AssertionError  # The delays never end.


def _edition(server: Server, project: str, name: str, number: int | None) -> EditionWithFigures:
    return server.ask(
        f"/reports/{name_segment(name)}/editions/{_number_on(server, project, name, number)}",
        EditionWithFigures,
        InProject(project=project),
    )


def _number_on(server: Server, project: str, name: str, number: int | None) -> int:
    """The number of an edition, by default the newest."""
    if number is not None:
        return number
    asked = EditionsQuery(project=project, limit=1)
    found = server.ask(f"/reports/{name_segment(name)}", ReportDetail, asked)
    if not found.editions:
        raise NotFound(f"report {name!r} has no edition yet.", field="number")
    return found.editions[0].number


@help_text("report list", "report list --json", see=("report show",))
@report.command(name="list")
@click.option("--project", help="Only reports of this project.")
@registry_options
def list_reports(project: str | None, call: Call) -> None:
    """List reports with their newest edition."""
    wanted = SchedulesQuery(project=project)
    found = ask(
        call, Request("/reports", ReportList, lambda at: asked_reports(at, wanted), wanted)
    )
    call.print(found, report_table(found.reports) if found.reports else "There are no reports.")


@_help(
    "report show weekly",
    "report show weekly 3 --json",
    see=("report list", "report export"),
)
@report.command()
@_name
@_number
@_project
@registry_options
def show(name: str, number: int | None, project: str, call: Call) -> None:
    """Show an edition of a report: NUMBER, or else the newest."""
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            found = _edition(registry, project, name, number)
        else:
            from offdiag.services.reports.page import edition_page

            page = edition_page(registry, project=project, name=name, number=number)
            found = edition_with_figures(page)
    call.print(found, edition_tables(found))


@_help(
    "report export weekly --format markdown",
    "report export weekly 3 --output 3.html",
    see=("report show",),
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
    help="Which file of the edition.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write.  [default: stdout]"
)
@url_option
def export(
    *,
    name: str,
    number: int | None,
    project: str,
    kind: str,
    output: Path | None,
    url: str | None,
) -> None:
    """Export a file of an edition, byte for byte as it was created."""
    with connected(url) as registry:
        if isinstance(registry, Server):
            number = _number_on(registry, project, name, number)
            content = registry.content(
                f"/reports/{name_segment(name)}/editions/{number}/files/{kind}",
                InProject(project=project),
            )
        else:
            from offdiag.services.reports.page import edition_file

            content = edition_file(
                registry, project=project, name=name, number=number, kind=kind
            ).content
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        output.write_bytes(content)
