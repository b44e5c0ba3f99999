"""Waiting for an issue that was just asked for, working on it here where that is the custom."""

from __future__ import annotations

import time

from offdiag.services.work.attempts import RetryPolicy
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.perform import perform_next
from offdiag.services.work.sweep import sweep
from offdiag.store import reports
from offdiag.store.database import Database
from offdiag.store.reports import IssueState

_LOOK_EVERY_S = 0.05


def settle_issue(
    database: Database, issue_id: int, *, timeout_s: float, lease_s: float, policy: RetryPolicy
) -> bool:
    """Wait until an issue is computed or has failed. False when time is up first.

    On SQLite whatever is due is done here, deliveries included, as a worker would; on a team
    database workers are waited for.
    """
    give_up_at = time.monotonic() + timeout_s
    works_here = database.dialect == "sqlite" and timeout_s > 0
    if works_here:
        sweep(database, policy)
    with LeaseKeeper(database, lease_s=lease_s) as keeper:
        while True:
            is_idle = not works_here or perform_next(database, keeper, policy) is None
            if is_idle and _is_settled(database, issue_id):
                return True
            if time.monotonic() >= give_up_at:
                return _is_settled(database, issue_id)
            if is_idle:
                time.sleep(_LOOK_EVERY_S)


def _is_settled(database: Database, issue_id: int) -> bool:
    with database.read() as session:
        issue = reports.find_issue(session, issue_id)
    return issue is not None and issue.state is not IssueState.PENDING
