"""Requests that are sent again: they act once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import update

from offdiag.errors import Conflict
from offdiag.services.idempotency import GIVEN_UP_AFTER, KEPT_FOR, Answer, AnswerKey, answer_once
from offdiag.services.retention.deletion import collect
from offdiag.store import idempotency
from offdiag.store.database import Database
from offdiag.store.models import KeptAnswerRow

KEY = AnswerKey("ana", "k-1", "digest")
MADE = Answer(201, '{"id":1}')


def fail() -> Answer:
    raise AssertionError("This request was carried out before.")


def test_equal_requests_get_the_first_answer(database: Database) -> None:
    assert answer_once(database, KEY, lambda: MADE) == MADE
    assert answer_once(database, KEY, fail) == MADE


def test_another_request_with_the_key_is_refused(database: Database) -> None:
    answer_once(database, KEY, lambda: MADE)
    with pytest.raises(Conflict, match="'k-1' was used for another request"):
        answer_once(database, AnswerKey("ana", "k-1", "other"), fail)


def test_keys_of_others_are_other_keys(database: Database) -> None:
    answer_once(database, KEY, lambda: MADE)
    other = Answer(200, "{}")
    assert answer_once(database, AnswerKey("bo", "k-1", "digest"), lambda: other) == other


def test_what_was_refused_or_failed_may_be_tried_again(database: Database) -> None:
    assert answer_once(database, KEY, lambda: Answer(422, "{}")).status == 422
    with pytest.raises(ZeroDivisionError):
        answer_once(database, KEY, lambda: Answer(1 // 0, ""))
    assert answer_once(database, AnswerKey("ana", "k-1", "mended"), lambda: MADE) == MADE


def test_fifty_at_once_act_once(database: Database) -> None:
    all_are_here, acted = threading.Barrier(50), []

    def act() -> Answer:
        acted.append(1)
        return MADE

    def send(_: int) -> Answer:
        all_are_here.wait()
        return answer_once(database, KEY, act)

    with ThreadPoolExecutor(50) as clients:
        answers = list(clients.map(send, range(50)))
    assert answers == [MADE] * 50
    assert acted == [1]


def test_a_request_that_is_worked_on_for_long_is_not_waited_for(database: Database) -> None:
    with database.write() as session:
        assert idempotency.claim(session, KEY, now=database.clock())
    with pytest.raises(Conflict, match="still worked on"):
        answer_once(database, KEY, fail, timeout_s=0)


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
        session.execute(update(KeptAnswerRow).values(status=status, body="old"))
    if not is_taken:
        assert answer_once(database, KEY, lambda: MADE) == MADE
    elif status is None:
        with pytest.raises(Conflict):
            answer_once(database, KEY, fail, timeout_s=0)
    else:
        assert answer_once(database, KEY, fail) == Answer(201, "old")


def test_collecting_forgets_old_answers(database: Database) -> None:
    old, new = AnswerKey("ana", "old", "d"), AnswerKey("ana", "new", "d")
    with database.write() as session:
        idempotency.claim(session, old, now=database.clock() - KEPT_FOR * 2)
        idempotency.claim(session, new, now=database.clock())
    assert collect(database, older_than=timedelta(days=30), keep=3).answers == 1
    with database.read() as session:
        assert idempotency.find_answer(session, old) is None
        assert idempotency.find_answer(session, new) is not None
