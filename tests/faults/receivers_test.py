"""Receivers that are slow, endless, broken or full: bounded, told, tried again, nobody else waits.

What a single post does with each of them is in `services/delivery/webhook_test.py`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select, update

from offdiag.domain.runs import RunFacts, RunState
from offdiag.services.delivery.message import FolderTarget, Target, WebhookTarget
from offdiag.services.jobs.attempts import Outcome
from offdiag.services.reports.edition import report_now
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.listeners import answering, flooding, listening, recovering, silent
from support.logging_runs import log, run_step, work_off
from support.reporting import SCOPE, deliveries, editions, log_run

LIMIT_S = 0.3
"""Instead of five seconds, so that tests of what is slow are not slow."""


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("offdiag.services.delivery.webhook.LIMIT_S", LIMIT_S)
    monkeypatch.setenv("OFFDIAG_WEBHOOK__SECRET", "key")
    monkeypatch.setenv("OFFDIAG_WEBHOOK__ALLOW_PRIVATE_ADDRESSES", "true")


def issued(database: Database, targets: Sequence[Target]) -> int:
    """Id of an edition that is computed and not delivered yet."""
    log_run(database)
    report_now(database, name="weekly", scope=SCOPE, delivery=targets)
    assert run_step(database) is Outcome.DONE
    return editions(database)[-1].id


def standing(database: Database, edition_id: int) -> list[tuple[str, int]]:
    return [(each.state.value, each.attempts) for each in deliveries(database, edition_id)]


def test_a_silent_receiver_costs_a_moment_and_is_tried_again(sqlite_database: Database) -> None:
    with listening(silent) as server:
        edition_id = issued(sqlite_database, [WebhookTarget(server.url)])
        # In the same project, so that what waits longest is next.
        waiting = log(sqlite_database, facts=RunFacts(name="run", project=SCOPE.project))
        began = time.monotonic()
        outcome = run_step(sqlite_database)
        took_s = time.monotonic() - began
        free_for = run_step(sqlite_database)

    (delivery,) = deliveries(sqlite_database, edition_id)
    assert outcome is Outcome.RELEASED
    assert took_s < LIMIT_S + 5
    assert (delivery.state.value, delivery.attempts) == ("pending", 1)
    assert "did not answer within" in (delivery.error or "")
    assert free_for is Outcome.DONE
    with sqlite_database.read() as session:
        assert runs.get_run(session, waiting.id).state is RunState.EVALUATED


def test_bad_receivers_are_given_up_while_the_good_one_gets_its_edition_once(
    sqlite_database: Database, tmp_path: Path
) -> None:
    with (
        listening(silent) as never,
        listening(flooding) as endless,
        listening(answering("500 Broken")) as broken,
        listening(answering("204 No Content")) as good,
    ):
        targets = [WebhookTarget(each.url) for each in (never, endless, broken, good)]
        edition_id = issued(sqlite_database, [*targets, FolderTarget("weekly")])
        work_off(sqlite_database)

    assert standing(sqlite_database, edition_id) == [("failed", 5)] * 3 + [("sent", 1)] * 2
    assert good.connections == 1
    with sqlite_database.read() as session:
        errors = session.scalars(select(WorkRow.error).where(WorkRow.state == "dead")).all()
    assert len(errors) == 3
    assert all(errors)


def test_a_receiver_that_recovers_gets_its_edition(sqlite_database: Database) -> None:
    busy_twice = recovering(2, ill=answering("503 Busy"), well=answering("200 OK"))
    with listening(busy_twice) as server:
        edition_id = issued(sqlite_database, [WebhookTarget(server.url)])
        work_off(sqlite_database)

    assert standing(sqlite_database, edition_id) == [("sent", 3)]
    keys = {key_of(received) for received in server.received}
    assert len(server.received) == 3
    assert len(keys) == 1


def key_of(received: bytes) -> bytes:
    return next(line for line in received.splitlines() if line.startswith(b"Offdiag-Delivery"))


def test_a_folder_without_room_gets_whole_files_once_there_is_some(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    edition_id = issued(sqlite_database, [FolderTarget("weekly")])
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        outcomes = [run_step(sqlite_database) for _ in range(2)]

    (waiting,) = deliveries(sqlite_database, edition_id)
    assert outcomes == [Outcome.RELEASED] * 2
    assert "No space left on device" in (waiting.error or "")
    assert not list(Path("reports/weekly").iterdir())
    with sqlite_database.write() as session:
        session.execute(update(WorkRow).values(due=0.0))
    work_off(sqlite_database)
    assert standing(sqlite_database, edition_id) == [("sent", 3)]
    assert len(list(Path("reports/weekly").iterdir())) == 4
