"""Opening, filling and closing a run can be sent again; what differs the second time is told."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_predictions import OpenedRun, open_run
from offdiag.store.database import Database
from support.logging_runs import batch_of

LABELS = LabelSet.declared(["a", "b"])
AT_ONCE = 20
FACTS = RunFacts(name="run", client_key="key", params={"depth": 3})


def opened(
    database: Database,
    facts: RunFacts = FACTS,
    *,
    dataset: str = "d",
    labels: LabelSet | None = LABELS,
) -> OpenedRun:
    return open_run(database, facts=facts, dataset=dataset, labels=labels, positive_label=None)


def batch(predicted: str) -> Batch:
    return batch_of(LABELS, y_pred=list(predicted), y_true=["a"] * len(predicted))


@pytest.mark.both_databases
def test_many_that_open_a_run_at_once_open_one(database: Database) -> None:
    found: list[str] = []
    start = threading.Barrier(AT_ONCE)

    def open_it() -> None:
        start.wait()
        found.append(opened(database).run.id)

    threads = [threading.Thread(target=open_it) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == AT_ONCE
    assert len(set(found)) == 1


def test_a_key_that_is_used_for_something_else_is_a_conflict(database: Database) -> None:
    opened(database)

    for field, facts in (
        ("name", replace(FACTS, name="other")),
        ("model", replace(FACTS, model="m")),
        ("params", replace(FACTS, params={"depth": 4})),
        ("tags", replace(FACTS, tags={"team": "a"})),
    ):
        with pytest.raises(Conflict, match=f"opened with another {field}") as caught:
            opened(database, facts)

        assert caught.value.field == field
    with pytest.raises(Conflict, match="opened with another dataset"):
        opened(database, dataset="other")


def test_labels_that_were_only_found_give_way_to_those_of_the_dataset(
    database: Database,
) -> None:
    opened(database)

    found = opened(database, labels=LabelSet.inferred_from(["b"]))

    assert found.dataset.labels == LABELS


def test_closing_compares_the_number_of_chunks(database: Database) -> None:
    run = opened(database).run
    put_chunk(database, run.id, 0, batch("ab"))
    put_chunk(database, run.id, 1, batch("ba"))

    with pytest.raises(Conflict, match="is missing"):
        finish_run(database, run.id, n_chunks=3)
    with pytest.raises(Conflict, match="has 2 chunks, not 1"):
        finish_run(database, run.id, n_chunks=1)
    finished = finish_run(database, run.id, n_chunks=2)

    assert finish_run(database, run.id, n_chunks=2) == finished
    with pytest.raises(Conflict, match="cannot be changed"):
        finish_run(database, run.id, n_chunks=3)
    with pytest.raises(Conflict, match="has 2 chunks, not 1"):
        finish_run(database, run.id, n_chunks=1)
