"""A run is removed for good while somebody fills, finishes, reads, compares or evaluates it."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event, func, select

from offdiag.domain.runs import RunFacts
from offdiag.services.retention.deletion import collect, delete_run
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, PredictionChunkRow, RunRow, WorkRow
from support.contents import count_rows
from support.logging_runs import log, work_off
from support.registries import dashboard

STEP = 1 if "OFFDIAG_LONG" in os.environ else 11
"""Of the statements before which it is removed every so many are taken, from one that is drawn."""
A_MOMENT_S = 0.1
"""For the one who removes it, and may have to wait until the other is done."""
CHUNK = {"y_pred": ["a", "b", "b"], "y_true": ["a", "b", "a"]}


@dataclass(frozen=True)
class Deed:
    """What somebody does with a run while it is removed, and how it may be answered."""

    begin: Callable[[Database, FlaskClient], str]
    act: Callable[[Database, FlaskClient, str], int]
    answers: frozenset[int]


def opened(_database: Database, client: FlaskClient) -> str:
    body = {"name": "run", "dataset": "open", "labels": ["a", "b"]}
    run_id = str(client.post("/api/v1/runs", json=body).get_json()["id"])
    assert put(_database, client, run_id, seq=0) == 201
    return run_id


def put(_database: Database, client: FlaskClient, run_id: str, seq: int = 1) -> int:
    return client.put(f"/api/v1/runs/{run_id}/chunks/{seq}", json=CHUNK).status_code


def finish(_database: Database, client: FlaskClient, run_id: str) -> int:
    return client.post(f"/api/v1/runs/{run_id}/finish", json={}).status_code


def logged(database: Database, _client: FlaskClient) -> str:
    return log(database).id


def evaluated(database: Database, client: FlaskClient) -> str:
    run_id = logged(database, client)
    work_off(database)
    return run_id


def evaluate(database: Database, _client: FlaskClient, _run_id: str) -> int:
    work_off(database)
    return 200


def look(_database: Database, client: FlaskClient, run_id: str) -> int:
    return client.get(f"/runs/{run_id}").status_code


def compare(database: Database, client: FlaskClient, run_id: str) -> int:
    with database.read() as session:
        other = session.scalar(select(RunRow.id).where(RunRow.name == "stays"))
    return client.get(f"/compare?runs={other},{run_id}").status_code


FOUND_OR_NOT = frozenset({200, 404})
DEEDS = {
    "fill": Deed(opened, put, frozenset({201, 404})),
    "finish": Deed(opened, finish, FOUND_OR_NOT),
    "evaluate": Deed(logged, evaluate, frozenset({200})),
    "look": Deed(evaluated, look, FOUND_OR_NOT),
    "compare": Deed(evaluated, compare, FOUND_OR_NOT),
}


class Remover:
    """Deletes a run and removes it, in the moment before the n-th statement of somebody else."""

    def __init__(self, url: str, run_id: str, nth: int) -> None:
        self._database = Database(url, synchronous="normal")
        self._run_id = run_id
        self._left = nth
        self._thread = threading.Thread(target=self._remove)

    @property
    def was_asked(self) -> bool:
        return self._left <= 0

    def count(self, *_: object) -> None:
        self._left -= 1
        if self._left == 0:
            self._thread.start()
            self._thread.join(A_MOMENT_S)

    def end(self) -> None:
        if self.was_asked:
            self._thread.join()
        self._database.close()

    def _remove(self) -> None:
        delete_run(self._database, self._run_id, by="ada")
        collect(self._database, older_than=timedelta(0), keep=9)


@contextmanager
def removed_before(database: Database, run_id: str, nth: int) -> Iterator[Remover]:
    """Remove a run before the n-th statement of the block."""
    remover = Remover(database.url, run_id, nth)
    engines = {database._engines.writing, database._engines.reading}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", remover.count)
    try:
        yield remover
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", remover.count)
        remover.end()


def rows_of(database: Database, run_id: str) -> int:
    with database.read() as session:
        return sum(
            session.scalar(select(func.count()).select_from(row).where(column == run_id)) or 0
            for row, column in (
                (RunRow, RunRow.id),
                (PredictionChunkRow, PredictionChunkRow.run_id),
                (EvaluationRow, EvaluationRow.run_id),
            )
        )


@pytest.mark.parametrize("name", DEEDS)
def test_a_run_that_is_removed_meanwhile_is_whole_or_not_there(
    name: str, database: Database
) -> None:
    deed = DEEDS[name]
    client = dashboard(database).test_client()
    stays = log(database, facts=RunFacts(name="stays"))
    work_off(database)
    first = 1 + secrets.randbelow(STEP)
    n_removed = 0

    for nth in count(first, STEP):
        run_id = deed.begin(database, client)
        with removed_before(database, run_id, nth) as remover:
            status = deed.act(database, client, run_id)
        assert status in deed.answers, nth
        if not remover.was_asked:
            break
        n_removed += 1
        work_off(database)
        assert rows_of(database, run_id) == 0, nth

    assert n_removed > 0
    assert verify(database).is_clean
    # What was begun last was not removed, and waits for nothing.
    work_off(database)
    assert count_rows(database, WorkRow) == 0
    assert rows_of(database, stays.id) > 1
