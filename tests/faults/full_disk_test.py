"""A full disk costs time: nothing is half written, nothing is given up, and work goes on."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select, update

from offdiag.domain.runs import RunState
from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.run_job import run_next_job
from offdiag.services.reports.edition import report_now
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import count_rows
from support.full_disks import full_disk
from support.logging_runs import POLICY, log, work_off
from support.reporting import SCOPE, editions, log_run


def log_large(database: Database) -> None:
    """More than fits into the room that is left in pages."""
    truth = np.arange(200_000) % 7
    log(database, y_true=truth, y_pred=truth[::-1], dataset="large")


def try_hard(database: Database) -> int:
    """More rounds than work is tried, each after its pause. Returns how often room was lacking."""
    lacking = 0
    for _ in range(POLICY.max_attempts + 2):
        with LeaseKeeper(database, lease_s=30) as keeper:
            try:
                run_next_job(database, keeper, POLICY)
            except StorageFull:
                lacking += 1
        with database.write() as session:
            session.execute(update(WorkRow).values(due=0.0))
            session.execute(
                update(WorkRow).where(WorkRow.lease.is_not(None)).values(lease_until=0)
            )
        reconcile(database, POLICY)
    return lacking


def test_on_a_full_disk_nothing_is_half_there_and_all_is_logged_once_there_is_room(
    database: Database,
) -> None:
    log(database)
    work_off(database)

    with full_disk(database):
        with pytest.raises(StorageFull, match="the disk is full") as full:
            log_large(database)
        found = verify(database)

    assert isinstance(full.value, DatabaseUnavailable)
    assert full.value.code == "storage_full"
    assert "Make room" in (full.value.hint or "")
    assert found.is_clean
    assert (found.n_runs, count_rows(database, RunRow)) == (1, 1)
    log_large(database)
    work_off(database)
    assert count_rows(database, EvaluationRow) == 2


def test_however_long_the_disk_is_full_no_evaluation_is_given_up(
    sqlite_database: Database,
) -> None:
    truth = np.arange(3_000) % 60
    log(sqlite_database, y_true=truth, y_pred=np.roll(truth, 7))

    with full_disk(sqlite_database):
        lacking = try_hard(sqlite_database)
    work_off(sqlite_database)

    assert lacking == POLICY.max_attempts + 2
    assert count_rows(sqlite_database, EvaluationRow) == 1
    with sqlite_database.read() as session:
        assert session.scalars(select(RunRow.state)).all() == [RunState.EVALUATED]


def test_however_long_the_disk_is_full_no_edition_is_given_up(sqlite_database: Database) -> None:
    log_run(sqlite_database)
    report_now(sqlite_database, name="weekly", scope=SCOPE)

    with full_disk(sqlite_database):
        lacking = try_hard(sqlite_database)
    work_off(sqlite_database)

    assert lacking == POLICY.max_attempts + 2
    assert [edition.state.value for edition in editions(sqlite_database)] == ["computed"]
