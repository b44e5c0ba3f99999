"""Requests that are sent again: they act once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import update

from offdiag.errors import Conflict
from offdiag.services.idempotency import (
    GIVEN_UP_AFTER,
    KEPT_FOR,
    ResponseKey,
    StoredResult,
    respond_once,
)
from offdiag.services.retention.deletion import collect
from offdiag.store import idempotency
from offdiag.store.database import Database
from offdiag.store.models import StoredResponseRow

KEY = ResponseKey("ana", "k-1", "digest")
MADE = StoredResult(201, '{"id":1}')
AT_ONCE = 20


def fail() -> StoredResult:
    raise AssertionError("This request was carried out before.")


@pytest.mark.both_databases
def test_equal_requests_get_the_first_answer(database: Database) -> None:
    assert respond_once(database, KEY, lambda: MADE) == MADE
    assert respond_once(database, KEY, fail) == MADE


def test_another_request_with_the_key_is_refused(database: Database) -> None:
    respond_once(database, KEY, lambda: MADE)
    with pytest.raises(Conflict, match="'k-1' was used for another request"):
        respond_once(database, ResponseKey("ana", "k-1", "other"), fail)


def test_keys_of_others_are_other_keys(database: Database) -> None:
    respond_once(database, KEY, lambda: MADE)
    other = StoredResult(200, "{}")
    assert respond_once(database, ResponseKey("bo", "k-1", "digest"), lambda: other) == other


@pytest.mark.both_databases
def test_what_was_refused_or_failed_may_be_tried_again(database: Database) -> None:
    assert respond_once(database, KEY, lambda: StoredResult(400, "{}")).status == 400
    with pytest.raises(ZeroDivisionError):
        respond_once(database, KEY, lambda: StoredResult(1 // 0, ""))
    assert respond_once(database, ResponseKey("ana", "k-1", "mended"), lambda: MADE) == MADE


@pytest.mark.both_databases
def test_many_at_once_act_once(database: Database) -> None:
    all_are_here, acted = threading.Barrier(AT_ONCE), []

    def act() -> StoredResult:
        acted.append(1)
        return MADE

    def send(_: int) -> StoredResult:
        all_are_here.wait()
        return respond_once(database, KEY, act)

    with ThreadPoolExecutor(AT_ONCE) as clients:
        answers = list(clients.map(send, range(AT_ONCE)))
    assert answers == [MADE] * AT_ONCE
    assert acted == [1]


def test_a_request_that_is_worked_on_for_long_is_not_waited_for(database: Database) -> None:
    with database.write() as session:
        assert idempotency.claim(session, KEY, now=database.clock())
    with pytest.raises(Conflict, match="still in progress"):
        respond_once(database, KEY, fail, timeout_s=0)


@pytest.mark.parametrize(
    ("status", "age", "is_taken"),
    [
        (None, GIVEN_UP_AFTER / 2, True),
        (None, GIVEN_UP_AFTER * 2, False),
        (201, KEPT_FOR / 2, True),
        (201, KEPT_FOR * 2, False),
    ],
)
def test_keys_are_free_again_after_a_while(
    database: Database, status: int | None, age: timedelta, is_taken: bool
) -> None:
    with database.write() as session:
        idempotency.claim(session, KEY, now=database.clock() - age)
        session.execute(update(StoredResponseRow).values(status=status, body="old"))
    if not is_taken:
        assert respond_once(database, KEY, lambda: MADE) == MADE
    elif status is None:
        with pytest.raises(Conflict):
            respond_once(database, KEY, fail, timeout_s=0)
    else:
        assert respond_once(database, KEY, fail) == StoredResult(201, "old")


@pytest.mark.both_databases
def test_collecting_forgets_old_answers(database: Database) -> None:
    old, new = ResponseKey("ana", "old", "d"), ResponseKey("ana", "new", "d")
    with database.write() as session:
        idempotency.claim(session, old, now=database.clock() - KEPT_FOR * 2)
        idempotency.claim(session, new, now=database.clock())
    assert collect(database, older_than=timedelta(days=30), keep=3).answers == 1
    with database.read() as session:
        assert idempotency.find_response(session, old) is None
        assert idempotency.find_response(session, new) is not None
