"""Work of a kind that this program does not know: it is kept, and stands in nobody's way.

Another version of offdiag may have asked for it. Schedulers that delete what they cannot load
lose it.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from sqlalchemy import select, update

from offdiag.services.jobs.kinds import TASKS
from offdiag.services.jobs.page import retry_all
from offdiag.services.jobs.reconcile import reconcile
from offdiag.settings.model import JobsSettings
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.jobs import JobRequest
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag_workers.loop import run_worker
from support.contents import count_rows
from support.logging_runs import POLICY, log

KEY = "forecast:1"


def ask_for_the_unknown(database: Database) -> None:
    with database.write() as session:
        assert jobs.insert_pending(session, "forecast", JobRequest(KEY, {})) is not None


def the_unknown(database: Database) -> WorkRow:
    with database.read() as session:
        return session.scalars(select(WorkRow).where(WorkRow.key == KEY)).one()


def test_a_worker_leaves_it_to_whoever_knows_it_and_does_what_it_knows(database: Database) -> None:
    ask_for_the_unknown(database)
    log(database)

    report = run_worker(database, JobsSettings(), stop=threading.Event(), until_idle=True)

    assert (report.done, count_rows(database, EvaluationRow)) == (1, 1)
    row = the_unknown(database)
    assert (row.state, row.attempts) == ("todo", 0)
    assert "'forecast'" in (row.error or "")

    with database.write() as session:
        session.execute(update(WorkRow).values(due=0.0))
    known = replace(TASKS["evaluate"], compute=lambda _database, _args: lambda _session: None)

    report = run_worker(
        database,
        JobsSettings(),
        stop=threading.Event(),
        until_idle=True,
        tasks={**TASKS, "forecast": known},
    )

    assert (report.done, count_rows(database, WorkRow)) == (1, 0)


def test_the_sweep_buries_it_and_goes_on_and_it_can_be_asked_for_again(
    sqlite_database: Database,
) -> None:
    ask_for_the_unknown(sqlite_database)
    with sqlite_database.write() as session:
        session.execute(
            update(WorkRow).values(state="doing", lease="x", lease_until=0.0, attempts=5)
        )
    log(sqlite_database)
    with sqlite_database.write() as session:
        session.query(WorkRow).filter(WorkRow.key != KEY).delete()

    reconciled = reconcile(sqlite_database, POLICY)

    assert (reconciled.failed, reconciled.submitted) == (1, 1)
    assert the_unknown(sqlite_database).state == "dead"
    assert retry_all(sqlite_database) == 1
    assert the_unknown(sqlite_database).state == "todo"
