"""Opening, filling and closing a run can be sent again; what differs the second time is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict
from offdiag.services.ingest.batch import Batch, GivenCounts, GivenMatrix
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_counts import log_counts, log_matrix
from offdiag.services.ingest.log_predictions import OpenedRun, open_run
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.logging_runs import batch_of, log

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


def batch(predicted: str, **given: Any) -> Batch:
    return batch_of(LABELS, y_pred=list(predicted), y_true=["a"] * len(predicted), **given)


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

    for field, said, facts in (
        ("name", "another name", replace(FACTS, name="other")),
        ("model", "another model: none, not m", replace(FACTS, model="m")),
        ("params", "other parameters: 'depth'", replace(FACTS, params={"depth": 4})),
        ("tags", "other tags: 'team'", replace(FACTS, tags={"team": "a"})),
    ):
        with pytest.raises(Conflict, match=f"opened with {said}") as caught:
            opened(database, facts)

        assert caught.value.field == field
    with pytest.raises(Conflict, match="opened with another dataset"):
        opened(database, dataset="other")


def log_a_matrix(database: Database, facts: RunFacts, dataset: str) -> RunRecord:
    matrix = GivenMatrix(np.eye(2, dtype=np.int64), "actual_rows", ["a", "b"])
    return log_matrix(database, facts=facts, dataset=dataset, given=matrix)


def count_a_run(database: Database, facts: RunFacts, dataset: str) -> RunRecord:
    counts = GivenCounts(["a"], ["b"], [3], "polars", labels=["a", "b"])
    return log_counts(database, facts=facts, dataset=dataset, given=counts)


@pytest.mark.parametrize(
    "store",
    [lambda at, facts, dataset: log(at, facts=facts, dataset=dataset), log_a_matrix, count_a_run],
)
def test_what_is_logged_whole_is_not_found_under_another_description(
    database: Database, store: Callable[[Database, RunFacts, str], RunRecord]
) -> None:
    run = store(database, FACTS, "d")

    assert store(database, FACTS, "d") == run
    with pytest.raises(Conflict, match="opened with other parameters: 'depth'"):
        store(database, replace(FACTS, params={"depth": 4}), "d")
    with pytest.raises(Conflict, match="opened with another dataset"):
        store(database, FACTS, "other")


@pytest.mark.parametrize("ids", [None, [30, 10, 20]])
def test_slices_that_a_repeated_call_brings_are_not_dropped(
    database: Database, ids: list[int] | None
) -> None:
    def send(site: list[str], **more: list[str]) -> RunRecord:
        return log(
            database,
            facts=FACTS,
            y_true=["a", "b", "b"],
            y_pred=["a", "a", "b"],
            sample_ids=ids,
            slices={"site": site, **more},
        )

    run = send(["x", "y", "w"])

    assert send(["x", "y", "w"]) == run
    for site, more, how in (
        (["y", "x", "w"], {}, "with other values of 'site'"),
        (["x", "y", "z"], {}, "with other values of 'site'"),
        (["x", "y", "w"], {"sex": ["f", "m", "f"]}, "without the column 'sex'"),
    ):
        with pytest.raises(Conflict, match=f"run {run.id} was logged before {how}") as caught:
            send(site, **more)
        assert caught.value.field == "slices"


def test_slices_that_a_repeated_chunk_brings_are_not_dropped(database: Database) -> None:
    run = opened(database).run
    second = batch("aab", ids=[10, 30, 20], slices={"site": ["x", "y", "x"]})
    other = batch("aab", ids=[10, 30, 20], slices={"site": ["x", "x", "y"]})
    without = batch("aab", ids=[10, 30, 20])
    put_chunk(database, run.id, 0, batch("b", ids=[15], slices={"site": ["y"]}))
    put_chunk(database, run.id, 1, second)

    for is_complete in (False, True):
        if is_complete:
            finish_run(database, run.id)
        put_chunk(database, run.id, 1, second)
        put_chunk(database, run.id, 1, without)
        with pytest.raises(Conflict, match="was logged before with other values of 'site'"):
            put_chunk(database, run.id, 1, other)


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
