"""Delivery as work: kept apart from computing, tried again, given up, taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from offdiag.services.delivery.message import EmailTarget, FolderTarget, Target, WebhookTarget
from offdiag.services.jobs.attempts import Outcome
from offdiag.services.jobs.page import jobs_page, retry_all, retry_job
from offdiag.services.reports.edition import report_now
from offdiag.store.database import Database
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.job_list import JobState
from offdiag.store.models import ReportFileRow, WorkRow
from support.listeners import answering, listening
from support.logging_runs import run_step, work_off
from support.mail_server import Mailbox
from support.reporting import SCOPE, deliveries, editions, log_run


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def computed(database: Database, *targets: Target) -> int:
    """Id of an edition whose deliveries wait."""
    log_run(database)
    report_now(database, name="weekly", scope=SCOPE, delivery=targets)
    run_step(database)
    return editions(database)[-1].id


def states(found: Sequence[DeliveryRecord]) -> list[tuple[str, int]]:
    return [(each.state.value, each.attempts) for each in found]


def test_one_failure_keeps_nobody_else_from_getting_the_edition(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "blocked").write_text("in the way", encoding="utf-8")
    edition_id = computed(database, FolderTarget("blocked"), FolderTarget("weekly"))

    work_off(database)

    assert states(deliveries(database, edition_id)) == [("failed", 5), ("sent", 1)]
    assert editions(database)[-1].state.value == "computed"


def test_while_it_is_tried_again_the_last_error_is_there(database: Database) -> None:
    Path("reports").write_text("in the way", encoding="utf-8")
    edition_id = computed(database, FolderTarget("weekly"))

    outcome = run_step(database)

    (waiting,) = deliveries(database, edition_id)
    assert outcome is Outcome.RELEASED
    assert states([waiting]) == [("pending", 1)]
    assert "reports" in (waiting.error or "")


def test_an_answer_that_no_database_can_store_is_told_escaped(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_WEBHOOK__SECRET", "key")
    monkeypatch.setenv("OFFDIAG_WEBHOOK__ALLOW_PRIVATE_ADDRESSES", "true")
    with listening(answering("500 a\0b")) as server:
        edition_id = computed(database, WebhookTarget(server.url))
        outcome = run_step(database)

    (waiting,) = deliveries(database, edition_id)
    assert outcome is Outcome.RELEASED
    assert (waiting.attempts, waiting.error) == (1, r"127.0.0.1 answered 500 a\x00b.")


def test_what_settings_forbid_is_refused_at_once(database: Database) -> None:
    edition_id = computed(
        database, EmailTarget("ana@example.org"), WebhookTarget("https://hooks.example.org/x")
    )

    outcomes = [run_step(database), run_step(database)]

    assert outcomes == [Outcome.FAILED, Outcome.FAILED]
    found = deliveries(database, edition_id)
    assert states(found) == [("refused", 1), ("refused", 1)]
    assert found[0].error == "no e-mail can be sent. Set smtp.host and smtp.sender."
    assert found[1].error == "nothing is posted unsigned. Set webhook.secret."


@pytest.mark.parametrize("status", ["301 Moved Permanently", "307 Temporary Redirect"])
def test_a_redirect_is_given_up_at_once_with_the_reason(
    database: Database, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setenv("OFFDIAG_WEBHOOK__SECRET", "key")
    monkeypatch.setenv("OFFDIAG_WEBHOOK__ALLOW_PRIVATE_ADDRESSES", "true")
    with listening(answering(status, "Location: https://elsewhere.example/")) as server:
        edition_id = computed(database, WebhookTarget(server.url))
        work_off(database)

    (found,) = deliveries(database, edition_id)
    assert server.connections == 1
    assert states([found]) == [("failed", 1)]
    assert found.error == f"127.0.0.1 answered {status[:3]}; redirects are not followed."


@pytest.mark.parametrize(
    ("answer", "attempts"), [("550 no such mailbox", 1), ("450 try later", 5), ("421 closing", 5)]
)
def test_only_a_permanent_refusal_of_a_mail_server_ends_the_attempts(
    database: Database, monkeypatch: pytest.MonkeyPatch, answer: str, attempts: int
) -> None:
    monkeypatch.setenv("OFFDIAG_SMTP__SECURITY", "none")
    monkeypatch.setenv("OFFDIAG_SMTP__SENDER", "offdiag@example.org")
    with listening(Mailbox({"RCPT": answer})) as server:
        monkeypatch.setenv("OFFDIAG_SMTP__HOST", server.host)
        monkeypatch.setenv("OFFDIAG_SMTP__PORT", str(server.port))
        edition_id = computed(database, EmailTarget("ana@example.org"))
        work_off(database)

    (found,) = deliveries(database, edition_id)
    assert server.connections == attempts
    assert states([found]) == [("failed", attempts)]
    assert (found.error or "").endswith(f" did not take the message: {answer}.")


def test_a_delivery_says_when_it_is_tried_next_while_it_waits(database: Database) -> None:
    Path("reports").write_text("in the way", encoding="utf-8")
    edition_id = computed(database, FolderTarget("weekly"))
    run_step(database)

    (waiting,) = deliveries(database, edition_id)
    with database.read() as session:
        due = session.scalars(select(WorkRow.due)).one()
    work_off(database)
    (given_up,) = deliveries(database, edition_id)

    assert waiting.next_attempt == datetime.fromtimestamp(due, UTC)
    assert (given_up.state.value, given_up.next_attempt) == ("failed", None)


def test_an_edition_that_lacks_a_file_is_not_delivered_in_part(
    database: Database, tmp_path: Path
) -> None:
    edition_id = computed(database, FolderTarget("weekly"))
    with database.write() as session:
        session.execute(delete(ReportFileRow).where(ReportFileRow.kind == "csv"))

    work_off(database)

    (found,) = deliveries(database, edition_id)
    assert found.state.value == "refused"
    assert "Restore a backup, or create another edition" in (found.error or "")
    assert not (tmp_path / "reports").exists()


def test_a_refused_delivery_can_be_taken_up_once_the_settings_allow_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition_id = computed(database, EmailTarget("ana@example.org"))
    work_off(database)
    (dead,) = jobs_page(database).jobs.entries
    mailbox = Mailbox()
    with listening(mailbox) as server:
        monkeypatch.setenv("OFFDIAG_SMTP__HOST", server.host)
        monkeypatch.setenv("OFFDIAG_SMTP__PORT", str(server.port))
        monkeypatch.setenv("OFFDIAG_SMTP__SECURITY", "none")
        monkeypatch.setenv("OFFDIAG_SMTP__SENDER", "offdiag@example.org")

        retry_job(database, dead.id)
        work_off(database)

    assert dead.state is JobState.DEAD
    assert len(mailbox.letters) == 1
    assert states(deliveries(database, edition_id)) == [("sent", 2)]


def test_a_private_address_stays_refused_without_a_packet(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_WEBHOOK__SECRET", "key")
    with listening(answering("204 No Content")) as server:
        edition_id = computed(database, WebhookTarget(server.url))
        work_off(database)

    assert server.connections == 0
    assert states(deliveries(database, edition_id)) == [("refused", 1)]


def test_a_delivery_that_was_sent_is_not_sent_again(database: Database) -> None:
    computed(database, FolderTarget("weekly"))
    with database.read() as session:
        again = session.execute(select(WorkRow.task, WorkRow.args, WorkRow.key)).one()
    work_off(database)
    before = Path("reports/weekly/weekly-0001.html").stat().st_mtime_ns

    with database.write() as session:
        session.add(WorkRow(**again._mapping, state="todo", due=0.0, attempts=0, created_at=0.0))
    work_off(database)

    assert Path("reports/weekly/weekly-0001.html").stat().st_mtime_ns == before


@pytest.mark.both_databases
def test_everything_that_was_given_up_is_tried_again_at_once(database: Database) -> None:
    edition_id = computed(database, EmailTarget("a@example.org"), EmailTarget("b@example.org"))
    work_off(database)

    assert retry_all(database) == 2
    assert states(deliveries(database, edition_id)) == [("pending", 1), ("pending", 1)]
    assert retry_all(database) == 0
