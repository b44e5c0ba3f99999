"""Idempotency keys: a request sent again gets the answer of the first one.

A client that hears nothing cannot know whether its request was carried out. With a key it can
safely send the same request again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from offdiag.errors import Conflict
from offdiag.store import idempotency
from offdiag.store.database import Database
from offdiag.store.idempotency import ResponseKey, StoredResponse
from offdiag.store.retries import in_transaction

__all__ = ["ResponseKey", "StoredResult", "respond_once"]

KEPT_FOR = timedelta(days=1)
GIVEN_UP_AFTER = timedelta(seconds=60)
"""After this long without an answer, a request is considered abandoned: its process died."""
_LOOK_EVERY_S = 0.05
_FIRST_REFUSAL = 400


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The status and body of an answer."""

    status: int
    body: str


def respond_once(
    database: Database,
    key: ResponseKey,
    act: Callable[[], StoredResult],
    *,
    timeout_s: float = 20.0,
) -> StoredResult:
    """Return what `act` answers, or the answer stored when the key was first used.

    While another request with the key is being processed, waits for its answer. Only successful
    answers are stored: if `act` raises, or answers with a status of 400 or above, nothing was
    done, and the key is free again. Raises `Conflict` if the key was used for a different request,
    and when time is up.
    """
    give_up_at = time.monotonic() + timeout_s
    while (known := _known_or_claimed(database, key)) is not None:
        if known.digest != key.digest:
            raise Conflict(
                f"the key {key.key!r} was used for another request.",
                field="Idempotency-Key",
                hint="Use a new key for every request that is not a retry.",
            )
        if known.status is not None:
            return StoredResult(known.status, known.body or "")
        if time.monotonic() > give_up_at:
            raise Conflict(
                f"the request with key {key.key!r} is still in progress.",
                field="Idempotency-Key",
                hint="Send it again in a moment.",
            )
        time.sleep(_LOOK_EVERY_S)
    return _carried_out(database, key, act)


def _known_or_claimed(database: Database, key: ResponseKey) -> StoredResponse | None:
    """What is stored for the key; None if it belongs to this request from now on."""
    now = database.clock()
    with database.read() as session:
        known = idempotency.find_response(session, key)
    if known is not None and not _is_over(known, now):
        return known
    with database.write() as session:
        if known is not None:
            idempotency.forget(session, key, claimed_at=known.claimed_at)
        if idempotency.claim(session, key, now=now):
            return None
        return idempotency.find_response(session, key)


def _carried_out(
    database: Database, key: ResponseKey, act: Callable[[], StoredResult]
) -> StoredResult:
    try:
        answer = act()
    except BaseException:
        _release(database, key)
        raise
    if answer.status >= _FIRST_REFUSAL:
        _release(database, key)
        return answer
    in_transaction(
        database,
        lambda session: idempotency.keep(session, key, status=answer.status, body=answer.body),
    )
    return answer


def _release(database: Database, key: ResponseKey) -> None:
    in_transaction(database, lambda session: idempotency.release(session, key))


def _is_over(known: StoredResponse, now: datetime) -> bool:
    """Whether a key may be reused: its process died, or its answer was kept long enough."""
    lasts = GIVEN_UP_AFTER if known.status is None else KEPT_FOR
    return known.claimed_at < now - lasts
