"""What the pages of reports and schedules are given."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import delete, update

from offdiag.errors import NotFound
from offdiag.reports.scope import Condition, Side
from offdiag.services.health import beat, heart_of_this_process
from offdiag.services.reports.edition import report_now
from offdiag.services.reports.page import edition_file, reports_page
from offdiag.services.schedules.edit import pause_schedule, run_schedule
from offdiag.services.schedules.page import (
    preview_plan,
    report_page,
    schedule_page,
    schedules_page,
)
from offdiag.store.database import Database
from offdiag.store.models import ReportEditionRow, ReportFileRow, ScheduleRow
from support.dashboard import counted_statements
from support.logging_runs import work_off
from support.optional import present
from support.reporting import SCOPE, log_plain_run, weekly


@pytest.fixture(autouse=True)
def _in_a_folder(database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
    log_plain_run(database)


@pytest.mark.both_databases
def test_reports_can_be_narrowed_to_a_project_and_say_whether_a_scheduler_lives(
    database: Database,
) -> None:
    weekly(database)
    before = reports_page(database, project="skin")
    beat(database, heart_of_this_process("scheduler", database))

    assert len(before.entries) == 1
    assert not reports_page(database, project="other").entries
    assert not before.has_scheduler
    assert reports_page(database).has_scheduler


def test_the_page_costs_the_same_however_many_reports_there_are(database: Database) -> None:
    for number in range(2):
        weekly(database, name=f"weekly {number}")
        report_now(database, name=f"once {number}", scope=SCOPE)
    with counted_statements() as few:
        reports_page(database)

    for number in range(2, 8):
        weekly(database, name=f"weekly {number}")
        report_now(database, name=f"once {number}", scope=SCOPE)
    with counted_statements() as many:
        reports_page(database)

    assert len(many) == len(few) <= 5


def test_a_list_shows_the_summary_of_the_newest_computed_edition(database: Database) -> None:
    alerting = replace(SCOPE, alerts=(Condition("recall", Side.BELOW, 0.99, "mel"),))
    for _ in range(2):
        report_now(database, name="once", scope=alerting)
        work_off(database)
    report_now(database, name="once", scope=alerting)

    (entry,) = reports_page(database).entries

    assert present(entry.last).state.value == "pending"
    summary = present(entry.summary)
    assert (summary.n_runs, summary.n_alerts, summary.n_new_alerts) == (1, 1, 0)
    assert (summary.n_open_flags, summary.n_raised_flags) == (0, 0)
    assert (summary.metric, summary.line) == ("balanced_accuracy", (0.9, 0.9))


def test_an_edition_of_a_version_without_summaries_has_none(database: Database) -> None:
    report_now(database, name="once", scope=SCOPE)
    work_off(database)
    with database.write() as session:
        session.execute(update(ReportEditionRow).values(summary=None))

    assert reports_page(database).entries[0].summary is None


@pytest.mark.both_databases
def test_editions_come_part_by_part_and_the_page_costs_the_same(database: Database) -> None:
    weekly(database)
    for number in range(1, 4):
        run_schedule(database, project="skin", name="weekly")
        work_off(database)
        # Times are unique, and the next may be of the same second.
        with database.write() as session:
            session.execute(
                update(ReportEditionRow)
                .where(ReportEditionRow.number == number)
                .values(fire_time=ReportEditionRow.fire_time + f" {number}")
            )

    with counted_statements() as statements:
        page = report_page(database, project="skin", name="weekly", start=2, limit=2)
    beyond = report_page(database, project="skin", name="weekly", start=9)

    assert [entry.edition.number for entry in page.editions] == [1]
    assert page.entry.n_editions == 3
    assert len(present(page.planned).next_due_times) == 5
    assert len(page.history) == 3
    assert len(statements) <= 6
    assert beyond.editions == ()


def test_a_schedule_is_shown_with_its_next_five_times_or_why_there_are_none(
    database: Database,
) -> None:
    preview = preview_plan(database, cron="0 6 * * 1", zone="Asia/Tokyo")
    weekly(database, cron="30 6 * * 1,4", zone="Europe/Ljubljana")

    entry = schedule_page(database, project="skin", name="weekly")
    pause_schedule(database, project="skin", name="weekly")
    paused = schedule_page(database, project="skin", name="weekly")
    with database.write() as session:
        session.execute(update(ScheduleRow).values(zone="Mars/Olympus"))
    (unreadable,) = schedules_page(database).entries

    assert preview.words == "Mondays at 06:00, Asia/Tokyo"
    assert [f"{fire.wall:%a %H:%M}" for fire in preview.next_due_times] == ["Mon 06:00"] * 5
    assert entry.words == "Mondays and Thursdays at 06:30, Europe/Ljubljana"
    assert len(entry.next_due_times) == 5
    assert {f"{fire.wall:%a %H:%M}" for fire in entry.next_due_times} == {"Mon 06:30", "Thu 06:30"}
    assert paused.next_due_times == ()
    assert "there is no time zone" in present(unreadable.problem)


def test_a_lost_file_of_an_edition_is_not_waited_for(database: Database) -> None:
    report_now(database, name="weekly", scope=SCOPE)
    with pytest.raises(NotFound) as early:
        edition_file(database, project="skin", name="weekly", kind="csv")
    work_off(database)
    with database.write() as session:
        session.execute(delete(ReportFileRow).where(ReportFileRow.kind == "csv"))
    with pytest.raises(NotFound) as lost:
        edition_file(database, project="skin", name="weekly", kind="csv")

    assert early.value.hint == "Wait until it is computed."
    assert lost.value.hint == "Restore a backup, or create another edition."
