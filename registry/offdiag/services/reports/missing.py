"""Work for issues and deliveries that nobody has been asked to do: lost rows lose only time."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.services.work.submit import submit_delivery, submit_report
from offdiag.store import deliveries, reports
from offdiag.store.database import Database

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """How many issues and deliveries had no work standing for them."""

    issues: int
    deliveries: int


def ask_for_missing(database: Database) -> AskedAgain:
    """Submit work for everything pending without any. Idempotent, safe in every process."""
    with database.read() as session:
        issues = reports.issues_without_work(session, limit=_AT_ONCE)
        parcels = deliveries.deliveries_without_work(session, limit=_AT_ONCE)
    if issues or parcels:
        with database.write() as session:
            for issue_id in issues:
                submit_report(session, issue_id)
            for delivery_id in parcels:
                submit_delivery(session, delivery_id)
    return AskedAgain(len(issues), len(parcels))
