"""Tables of reports and their editions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from rich.table import Table

from offdiag.cli.call import Call
from offdiag.cli.output import busy, note
from offdiag.cli.tables import facts_table, filled_table
from offdiag.domain.schedule import due_text
from offdiag.records.report import (
    Delivery,
    Edition,
    EditionWithFigures,
    ReportSummary,
    edition_with_figures,
)
from offdiag.reports.document import read_report
from offdiag.reports.headline import further_sentences
from offdiag.settings import load_settings

if TYPE_CHECKING:
    from offdiag.services.reports.edition import RequestedEdition
    from offdiag.store.database import Database

PENDING = "pending"
"""The state of an edition that is queued."""


def report_table(reports: Iterable[ReportSummary]) -> Table:
    return filled_table(
        ("report", "dataset", "editions", "newest", "headline", "sent"),
        (
            (
                f"{each.project}/{each.name}",
                each.scope.dataset,
                str(each.n_editions),
                "" if each.last is None else f"#{each.last.number} {each.last.state}",
                "" if each.last is None else _said(each.last),
                "" if each.last is None else _sent(each.last.deliveries),
            )
            for each in reports
        ),
    )


def edition_tables(edition: EditionWithFigures) -> Iterable[Table]:
    """An edition: first its headline, then its origin."""
    report = None if edition.report is None else read_report(edition.report)
    sentences = () if report is None else further_sentences(report)
    facts = {
        "headline": _said(edition),
        **{" " * place: text for place, text in enumerate(sentences, start=1)},
        "for": due_text(edition.fire_time),
        "state": edition.state,
        "data digest": edition.data_digest or "",
        "files": ", ".join(f"{file.kind} ({file.n_bytes:,} bytes)" for file in edition.files),
    }
    shown = {name: text for name, text in facts.items() if text}
    yield facts_table(f"{edition.name} #{edition.number}", shown)
    if edition.deliveries:
        yield filled_table(
            ("to", "state", "attempts", "next attempt", "last error"),
            (
                (
                    each.target,
                    each.state,
                    str(each.attempts),
                    ""
                    if each.next_attempt is None
                    else f"{each.next_attempt:%Y-%m-%d %H:%M:%S} UTC",
                    each.error or "",
                )
                for each in edition.deliveries
            ),
            title="Deliveries",
        )


def _said(edition: Edition) -> str:
    return edition.headline or edition.error or ""


def _sent(deliveries: Sequence[Delivery]) -> str:
    if not deliveries:
        return ""
    return f"{sum(each.state == 'sent' for each in deliveries)} of {len(deliveries)}"


def waited_for(
    database: Database, asked: RequestedEdition, *, project: str, timeout_s: float
) -> EditionWithFigures:
    """A queued edition, once it is computed or the time is up."""
    from offdiag.services.reports.edition import wait_for_edition
    from offdiag.services.reports.page import edition_page

    jobs = load_settings().jobs
    with busy(f"Computing edition {asked.number}"):
        wait_for_edition(database, asked.edition_id, timeout_s=timeout_s, settings=jobs)
    page = edition_page(database, project=project, name=asked.name, number=asked.number)
    return edition_with_figures(page)


def present_edition(edition: EditionWithFigures, call: Call) -> None:
    """Print an edition; exit code 1 if it failed, is not done, or a delivery was refused."""
    call.print(edition, edition_tables(edition))
    if edition.state == PENDING:
        note("It is queued. Start offdiag worker, or wait: nothing is lost.")
    is_refused = any(each.state == "refused" for each in edition.deliveries)
    if is_refused or edition.state != "computed":
        click.get_current_context().exit(1)
