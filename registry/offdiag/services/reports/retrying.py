"""Another try for an issue that could not be computed, and for a delivery that did not arrive."""

from __future__ import annotations

from offdiag.errors import Conflict, NotFound
from offdiag.services.delivery.task import take_up_delivery
from offdiag.services.jobs.retrying import revive_by_key
from offdiag.services.reports.task import take_up_report
from offdiag.services.work.submit import (
    delivery_key,
    report_key,
    submit_delivery,
    submit_report,
)
from offdiag.store import deliveries, reports
from offdiag.store.database import Database
from offdiag.store.deliveries import DeliveryState
from offdiag.store.reports import IssueRecord, IssueState
from offdiag.store.session import Session


def retry_issue(database: Database, *, project: str, name: str, number: int) -> None:
    """Compute a failed issue again. Raises `NotFound`, and `Conflict` unless it failed."""
    with database.write() as session:
        issue = _issue(session, project, name, number)
        if issue.state is not IssueState.FAILED:
            raise Conflict(
                f"issue {number} of {name!r} is {issue.state.value}.",
                field="issue",
                hint="Only an issue that failed is computed again.",
            )
        if not revive_by_key(session, report_key(issue.id)):
            take_up_report(session, {"issue": issue.id})
            submit_report(session, issue.id)


def retry_delivery(
    database: Database, *, project: str, name: str, number: int, delivery_id: int
) -> None:
    """Send an issue again to a target that it did not reach.

    Raises `NotFound`, and `Conflict` for a delivery that arrived or is still on its way.
    """
    with database.write() as session:
        issue = _issue(session, project, name, number)
        delivery = deliveries.find_delivery(session, delivery_id)
        if delivery is None or delivery.issue_id != issue.id:
            raise NotFound(
                f"issue {number} of {name!r} has no delivery {delivery_id}.", field="delivery"
            )
        if delivery.state not in {DeliveryState.FAILED, DeliveryState.REFUSED}:
            raise Conflict(
                f"delivery {delivery_id} is {delivery.state.value}.",
                field="delivery",
                hint="Only what did not arrive is sent again.",
            )
        if not revive_by_key(session, delivery_key(delivery_id)):
            take_up_delivery(session, {"delivery": delivery_id})
            submit_delivery(session, delivery_id)


def _issue(session: Session, project: str, name: str, number: int) -> IssueRecord:
    found = reports.find_numbered(session, project=project, name=name, number=number)
    if found is None:
        raise NotFound(
            f"project {project!r} has no issue {number} of report {name!r}.",
            field="issue",
            hint="`offdiag report list` shows the reports there are.",
        )
    return found
