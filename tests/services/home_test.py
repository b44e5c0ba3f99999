"""What the front page reads: reports to come, what failed, new label versions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from offdiag.domain.runs import RunFacts
from offdiag.services.jobs.submit import submit_delivery, submit_evaluation, submit_report
from offdiag.services.schedules.edit import run_schedule
from offdiag.services.truth.revise import revise_truth
from offdiag.store.database import Database
from offdiag.store.deliveries import insert_delivery
from offdiag.store.home_overview import (
    FailedEdition,
    FailedRun,
    label_versions_since,
    read_home,
)
from offdiag.store.models import ReportEditionRow, WorkRow
from support.logging_runs import log, upload_matrix, work_off
from support.reads import read
from support.reporting import log_run, weekly


@pytest.mark.both_databases
def test_an_empty_registry_has_nothing_to_tell(database: Database) -> None:
    overview = read(database, read_home)

    assert overview.datasets == ()
    assert (overview.due, overview.failures) == ((), ())


def test_reports_to_come_stand_in_the_order_they_are_due(database: Database) -> None:
    log_run(database)
    weekly(database, name="yearly", cron="0 0 1 1 *")
    weekly(database, name="hourly", cron="0 * * * *")

    due = read(database, read_home).due

    assert [(report.project, report.name) for report in due] == [
        ("skin", "hourly"),
        ("skin", "yearly"),
    ]
    assert due[0].due.tzinfo is UTC
    assert due[0].due > datetime(2020, 1, 1, tzinfo=UTC)


def test_an_edition_that_failed_is_told_with_its_reason(database: Database) -> None:
    log_run(database)
    weekly(database, name="weekly")
    run_schedule(database, project="skin", name="weekly")
    with database.write() as session:
        session.execute(update(ReportEditionRow).values(state="failed", error="no room"))

    (failure,) = read(database, read_home).failures

    assert (failure.is_report, failure.project, failure.name) == (True, "skin", "weekly")
    assert (failure.number, failure.error) == (1, "no room")


@pytest.mark.both_databases
def test_a_job_that_failed_says_what_it_was_for(database: Database) -> None:
    run_id = log_run(database)
    weekly(database, name="weekly")
    edition = run_schedule(database, project="skin", name="weekly")
    with database.write() as session:
        delivery_id = insert_delivery(
            session, edition_id=edition.edition_id, target={}, now=database.clock()
        )
        submit_evaluation(session, run_id)
        submit_report(session, edition.edition_id)
        submit_delivery(session, delivery_id)
        session.execute(update(WorkRow).values(state="dead", error="no room"))
    failures = {each.name: each.about for each in read(database, read_home).failures}

    first = FailedEdition("skin", "weekly", 1)
    assert failures == {
        "evaluate": FailedRun(run_id, "plain"),
        "report": first,
        "deliver": first,
    }


@pytest.mark.both_databases
def test_new_labels_say_how_many_runs_have_results_on_them(database: Database) -> None:
    ids = [f"s{i}" for i in range(40)]
    truth = ["a", "b"] * 20
    for name in ("one", "two"):
        log(database, y_true=truth, y_pred=truth, sample_ids=ids, facts=RunFacts(name=name))
    # Without predictions it keeps the labels that it was compared with.
    upload_matrix(database, [[20, 0], [0, 20]], ["a", "b"], dataset="holdout")
    work_off(database)
    before = database.clock() - timedelta(minutes=1)
    assert read(database, lambda session: label_versions_since(session, before, limit=5)) == []

    for label in ("a", "b"):
        revise_truth(database, project="default", dataset="holdout", labels={"s1": label},
                     reason=label, author="ana")  # fmt: skip
    (waiting,) = read(database, lambda session: label_versions_since(session, before, limit=5))
    work_off(database)
    (done,) = read(database, lambda session: label_versions_since(session, before, limit=5))

    assert (waiting.number, waiting.n_evaluated, waiting.n_runs) == (3, 0, 2)
    assert (done.number, done.n_evaluated, done.n_runs) == (3, 2, 2)
    assert read(database, lambda s: label_versions_since(s, database.clock(), limit=5)) == []
