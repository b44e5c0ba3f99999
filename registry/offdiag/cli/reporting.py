"""An issue that was just asked for: waited for, and shown."""

from __future__ import annotations

import click

from offdiag.cli.output import busy, note, print_json, print_tables
from offdiag.cli.report_tables import issue_dict, issue_tables
from offdiag.services.reports.asking import Asked
from offdiag.services.reports.pages import issue_page
from offdiag.services.reports.settling import settle_issue
from offdiag.services.work.attempts import RetryPolicy
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.deliveries import DeliveryState
from offdiag.store.reports import IssueState


def present_issue(
    context: click.Context,
    database: Database,
    settings: Settings,
    asked: Asked,
    *,
    project: str,
    timeout: float,
    as_json: bool,
) -> None:
    """Wait for an issue and print what it says; exit code 1 if it failed, is not done, or a
    delivery was refused."""
    with busy(f"Computing issue {asked.number}"):
        settle_issue(
            database,
            asked.issue_id,
            timeout_s=timeout,
            lease_s=settings.jobs.lease_s,
            policy=RetryPolicy(max_attempts=settings.jobs.max_attempts),
        )
    page = issue_page(database, project=project, name=asked.name, number=asked.number)
    if as_json:
        print_json(issue_dict(page))
    else:
        print_tables(*issue_tables(page))
    if page.issue.state is IssueState.PENDING:
        note("It is not computed yet. Start offdiag worker, or wait: nothing is lost.")
    is_refused = any(each.state is DeliveryState.REFUSED for each in page.deliveries)
    if is_refused or page.issue.state is not IssueState.COMPUTED:
        context.exit(1)
