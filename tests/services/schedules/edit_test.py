"""Schedules that cannot be meant are refused before anything is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import func, update

from offdiag.errors import Conflict, InvalidInput, NotFound, OffdiagError, Stale
from offdiag.reports.scope import Condition, Side
from offdiag.services.cost_matrices import add_costs
from offdiag.services.delivery.message import EmailTarget, FolderTarget, Target, WebhookTarget
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules import edit
from offdiag.services.schedules.edit import report_choices, report_definition
from offdiag.store.database import Database
from offdiag.store.models import ReportEditionRow
from support.filled_once import filled_once
from support.reporting import SCOPE, editions, log_run, weekly

EARLIER = "2026-01-05T06:00:00 " + func.substr(ReportEditionRow.fire_time, 21)
"""The fire of an edition at another time of the same zone."""


@pytest.fixture(autouse=True)
@filled_once
def _dataset(database: Database) -> None:
    log_run(database, evaluated=False)


def test_a_schedule_is_stored_as_it_was_meant(database: Database) -> None:
    targets: list[Target] = [
        FolderTarget("weekly"),
        EmailTarget("ana@example.org"),
        FolderTarget("weekly"),
    ]

    made = weekly(database, cron=" 0  6 * * MON", zone="Europe/Ljubljana", delivery=targets)

    assert (made.project, made.name, made.cron) == ("skin", "weekly", "0 6 * * mon")
    assert made.enabled
    assert made.delivery == [
        {"kind": "folder", "folder": "weekly"},
        {"kind": "email", "address": "ana@example.org"},
    ]


def test_what_cannot_be_meant_is_refused_and_nothing_stored(database: Database) -> None:
    cases: list[tuple[dict[str, object], type[OffdiagError]]] = [
        ({"cron": "61 * * * *"}, InvalidInput),
        ({"zone": "Mars/Olympus"}, InvalidInput),
        ({"name": " "}, InvalidInput),
        ({"name": "a\nb"}, InvalidInput),
        ({"scope": replace(SCOPE, dataset="other")}, NotFound),
        ({"scope": replace(SCOPE, project="other")}, NotFound),
        ({"scope": replace(SCOPE, baseline="r_unknown")}, NotFound),
        ({"scope": replace(SCOPE, metrics=("mcc", "mcc"))}, InvalidInput),
        (
            {"scope": replace(SCOPE, alerts=(Condition("recall", Side.BELOW, 0.5, "df"),))},
            InvalidInput,
        ),
        ({"delivery": [FolderTarget(str(number)) for number in range(21)]}, InvalidInput),
    ]
    for change, error in cases:
        with pytest.raises(error):
            weekly(database, **change)  # type: ignore[arg-type]  # various on purpose

        with pytest.raises(NotFound):
            edit.pause_schedule(database, project="skin", name="weekly")


def test_a_baseline_of_another_dataset_is_refused(database: Database) -> None:
    elsewhere = log_run(database, dataset="other", evaluated=False)

    with pytest.raises(InvalidInput, match="not a run on 'derm'"):
        weekly(database, scope=replace(SCOPE, baseline=elsewhere))


def test_a_name_is_given_once_in_a_project(database: Database) -> None:
    weekly(database)

    with pytest.raises(Conflict, match="has a schedule 'weekly'"):
        weekly(database)
    with pytest.raises(Conflict, match="offdiag schedule run weekly"):
        report_now(database, name="weekly", scope=SCOPE)


def test_an_unknown_schedule_or_report_is_not_found(database: Database) -> None:
    actions: list[Callable[..., object]] = [
        edit.pause_schedule,
        edit.resume_schedule,
        edit.remove_schedule,
        edit.run_schedule,
    ]
    for act in actions:
        with pytest.raises(NotFound, match="no schedule 'nightly'"):
            act(database, project="skin", name="nightly")
    with pytest.raises(NotFound, match="no report 'weekly'"):
        edit.run_report(database, project="skin", name="weekly")


def test_a_schedule_that_was_changed_since_it_was_read_is_not_removed(database: Database) -> None:
    where = {"project": "skin", "name": "weekly"}
    read = weekly(database).version
    changed = edit.change_schedule(
        database, name="weekly", cron="0 7 * * *", zone="UTC", scope=SCOPE, delivery=()
    )

    with pytest.raises(Stale, match="changed in the meantime"):
        edit.remove_schedule(database, **where, seen_version=read)

    edit.remove_schedule(database, **where, seen_version=changed.version)


FOLDERS = ("/etc", "../up", "a/../../b", "", ".", "a\nb", " weekly", "x" * 3_000)
ADDRESSES = (
    "ana",
    "ana@",
    "@example.org",
    "Ana <ana@example.org>",
    "ana@example.org, bob@example.org",
    "ana@example.org\nBcc: eve@example.org",
    "ana@example.org\r\nSubject: hi",
    "",
    "a b@example.org",
)
URLS = (
    "ftp://example.org/",
    "file:///etc/passwd",
    "example.org/hook",
    "https://",
    "https://user@example.org/",
    "https://user:word@example.org/",
    "https://example.org@127.0.0.1/",
    "https://exa mple.org/",
    "https://example.org\\@127.0.0.1/",
    "https://example.org:99999/",
    "https://[::1/",
    "https://münchen.example/",
    "https://example.org/\nHost: evil",
)


@pytest.mark.parametrize(
    ("target", "refused"),
    [(FolderTarget, FOLDERS), (EmailTarget, ADDRESSES), (WebhookTarget, URLS)],
)
def test_what_is_no_place_of_a_delivery_is_refused(
    target: Callable[[str], Target], refused: Sequence[str]
) -> None:
    for text in refused:
        with pytest.raises(InvalidInput):
            target(text)


@pytest.mark.both_databases
def test_a_report_is_run_by_its_schedule_or_else_as_its_newest_edition_was(
    database: Database,
) -> None:
    weekly(database, zone="Asia/Tokyo", delivery=[FolderTarget("f")])
    report_now(database, name="once", scope=SCOPE, zone="Europe/Ljubljana")

    by_plan = edit.run_report(database, project="skin", name="weekly")
    with database.write() as session:
        # Two by hand in one second are one too many.
        session.execute(update(ReportEditionRow).values(fire_time=EARLIER))
    again = edit.run_report(database, project="skin", name="once")

    planned, first, second = sorted(
        editions(database), key=lambda edition: (edition.name == "once", edition.number)
    )
    assert (planned.id, planned.schedule_id is not None) == (by_plan.edition_id, True)
    assert planned.delivery == [{"kind": "folder", "folder": "f"}]
    assert (first.number, second.number, second.id) == (1, 2, again.edition_id)
    assert (second.scope, second.schedule_id) == (first.scope, None)
    assert second.fire_time.endswith(" Europe/Ljubljana (by hand)")


def test_a_report_without_a_schedule_is_defined_by_its_newest_edition(database: Database) -> None:
    report_now(database, name="once", scope=SCOPE, delivery=[FolderTarget("f")])

    found = report_definition(database, project="skin", name="once")

    assert (found.scope, found.targets) == (SCOPE, (FolderTarget("f"),))
    assert (found.cron, found.zone, found.version) == (None, None, None)
    with pytest.raises(NotFound):
        report_definition(database, project="skin", name="never")


@pytest.mark.both_databases
def test_the_choices_are_all_datasets_and_cost_matrices(database: Database) -> None:
    add_costs(
        database,
        project="skin",
        dataset="derm",
        name="visits",
        weights={"mel": {"mel": 0.0, "nv": 9.0}, "nv": {"mel": 1.0, "nv": 0.0}},
    )

    found = report_choices(database)

    assert [(each.project, each.name) for each in found.datasets] == [("skin", "derm")]
    assert [(each.name, each.version) for each in found.costs] == [("visits", 1)]
