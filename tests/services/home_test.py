"""What the front page reads: flags by dataset, reports to come, what failed."""

from __future__ import annotations

from datetime import UTC, datetime
from unittest.mock import patch

from sqlalchemy import update

from offdiag.services.schedules.edit import run_schedule
from offdiag.store import home_overview
from offdiag.store.database import Database
from offdiag.store.home_overview import read_home
from offdiag.store.models import ReportEditionRow
from support.dashboard import log_counts
from support.reads import read
from support.reporting import log_run, weekly


def test_an_empty_registry_has_nothing_to_tell(database: Database) -> None:
    overview = read(database, read_home)

    assert (overview.datasets, overview.open_flags) == ((), {})
    assert (overview.due, overview.failures) == ((), ())


def test_open_flags_are_counted_by_dataset(database: Database) -> None:
    log_counts(database, ((100, 0), (10, 0)), ("a", "b"), name="majority", dataset="bad")
    log_counts(database, ((90, 10), (10, 90)), ("a", "b"), name="good", dataset="good")

    overview = read(database, read_home)

    names = {dataset.id: dataset.name for dataset, _ in overview.datasets}
    assert {names[dataset_id] for dataset_id in overview.open_flags} == {"bad"}
    assert next(iter(overview.open_flags.values())).n_open >= 2


def test_open_flags_of_the_two_badges_are_counted_apart(database: Database) -> None:
    log_counts(database, ((450, 50), (12, 18)), ("a", "b"), name="in sight")
    log_counts(database, ((450, 50), (120, 10)), ("a", "b"), name="proved")

    (found,) = read(database, read_home).open_flags.values()

    assert (found.n_hides, found.n_may_hide) == (1, 1)
    assert found.n_open > 2


def test_open_flags_are_those_of_the_newest_runs(database: Database) -> None:
    log_counts(database, ((100, 0), (10, 0)), ("a", "b"), name="majority")
    log_counts(database, ((90, 10), (10, 90)), ("a", "b"), name="good")

    with patch.object(home_overview, "NEWEST_LOOKED_AT", 1):
        newest = read(database, read_home).open_flags
    with patch.object(home_overview, "NEWEST_LOOKED_AT", 2):
        both = read(database, read_home).open_flags

    assert not newest
    assert len(both) == 1


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


def test_an_issue_that_failed_is_told_with_its_reason(database: Database) -> None:
    log_run(database)
    weekly(database, name="weekly")
    run_schedule(database, project="skin", name="weekly")
    with database.write() as session:
        session.execute(update(ReportEditionRow).values(state="failed", error="no room"))

    (failure,) = read(database, read_home).failures

    assert (failure.is_report, failure.project, failure.name) == (True, "skin", "weekly")
    assert (failure.number, failure.error) == (1, "no room")
