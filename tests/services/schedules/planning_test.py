"""Schedules that cannot be meant are refused before anything is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from offdiag.errors import Conflict, InvalidInput, NotFound, OffdiagError
from offdiag.reports.scope import Condition, Side
from offdiag.services.delivery.targets import EmailTarget, FolderTarget, Target, WebhookTarget
from offdiag.services.reports.asking import report_now
from offdiag.services.schedules import planning
from offdiag.store.database import Database
from support.reporting import SCOPE, issues, log_run, weekly


@pytest.fixture(autouse=True)
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


@pytest.mark.parametrize(
    ("change", "error"),
    [
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
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_stored(
    database: Database, change: dict[str, object], error: type[OffdiagError]
) -> None:
    with pytest.raises(error):
        weekly(database, **change)  # type: ignore[arg-type]  # various on purpose

    with pytest.raises(NotFound):
        planning.pause_schedule(database, project="skin", name="weekly")


def test_a_baseline_of_another_dataset_is_refused(database: Database) -> None:
    elsewhere = log_run(database, dataset="other", evaluated=False)

    with pytest.raises(InvalidInput, match="not a run on 'derm'"):
        weekly(database, scope=replace(SCOPE, baseline=elsewhere))


def test_a_name_is_given_once_in_a_project(database: Database) -> None:
    weekly(database)

    with pytest.raises(Conflict, match="has a schedule 'weekly'"):
        weekly(database)


@pytest.mark.parametrize(
    "act",
    [
        planning.pause_schedule,
        planning.resume_schedule,
        planning.remove_schedule,
        planning.run_schedule,
    ],
)
def test_an_unknown_schedule_is_not_found(database: Database, act: Callable[..., object]) -> None:
    with pytest.raises(NotFound, match="no schedule 'nightly'"):
        act(database, project="skin", name="nightly")


def test_a_report_without_a_schedule_counts_by_its_name(database: Database) -> None:
    first = report_now(database, name="once", scope=SCOPE)
    second = report_now(database, name="once", scope=SCOPE, zone="Asia/Tokyo")

    assert (first.number, second.number) == (1, 2)
    assert [issue.schedule_id for issue in issues(database)] == [None, None]
    assert "Asia/Tokyo" in issues(database)[1].fire_time


def test_a_report_cannot_take_the_name_of_a_schedule(database: Database) -> None:
    weekly(database)

    with pytest.raises(Conflict, match="offdiag schedule run weekly"):
        report_now(database, name="weekly", scope=SCOPE)


@pytest.mark.parametrize(
    "folder", ["/etc", "../up", "a/../../b", "", ".", "a\nb", " weekly", "x" * 3_000]
)
def test_a_folder_outside_is_refused(folder: str) -> None:
    with pytest.raises(InvalidInput):
        FolderTarget(folder)


@pytest.mark.parametrize(
    "address",
    [
        "ana",
        "ana@",
        "@example.org",
        "Ana <ana@example.org>",
        "ana@example.org, bob@example.org",
        "ana@example.org\nBcc: eve@example.org",
        "ana@example.org\r\nSubject: hi",
        "",
        "a b@example.org",
    ],
)
def test_what_is_no_single_mailbox_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        EmailTarget(address)


@pytest.mark.parametrize(
    "url",
    [
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
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        WebhookTarget(url)


def test_the_text_of_a_webhook_keeps_its_secret_part() -> None:
    target = WebhookTarget("https://hooks.example.org/services/T0/B0/secret?token=x")

    assert target.text == "webhook https://hooks.example.org/…"
