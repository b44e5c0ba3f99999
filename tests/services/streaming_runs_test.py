"""A run filled chunk by chunk ends like one logged whole, and every step can be repeated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.inputs.scores import Scores
from offdiag.services.ingest.batch import Batch, read_batch
from offdiag.services.ingest.chunks import PutOutcome, put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_predictions import OpenedRun, open_run
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.models import PendingTruthRow, TruthVersionRow, WorkRow
from support.contents import count_rows
from support.logging_runs import ACTUAL, PREDICTED, evaluate, log

LABELS = LabelSet.declared(["a", "b", "c"])


def opened(database: Database, client_key: str | None = None) -> OpenedRun:
    return open_run(
        database,
        facts=RunFacts(name="streamed", client_key=client_key),
        dataset="holdout",
        labels=LABELS,
        positive_label=None,
    )


def batch(
    start: int, stop: int, *, truth: bool = True, ids: object | None = None, scores: bool = False
) -> Batch:
    return read_batch(
        y_pred=PREDICTED[start:stop],
        y_true=ACTUAL[start:stop] if truth else None,
        y_score=np.zeros((stop - start, 3)) if scores else None,
        ids=ids,
        labels=LABELS,
        positive_label=None,
    )


def test_shuffled_identifiers_find_their_places(database: Database) -> None:
    whole = log(database, labels=["a", "b", "c"], sample_ids=[10, 20, 30, 40, 50, 60])
    run = opened(database).run

    put_chunk(database, run.id, 0, batch(3, 6, ids=[40, 50, 60]))
    put_chunk(database, run.id, 1, batch(0, 3, ids=[10, 20, 30]))
    finished = finish_run(database, run.id)

    assert finished.truth_version_id == whole.truth_version_id
    counts = evaluate(database, run.id).matrix.counts
    assert counts.tolist() == evaluate(database, whole.id).matrix.counts.tolist()


@pytest.mark.parametrize("ids", [None, list("uvwxyz")])
def test_predictions_alone_use_the_truth_the_dataset_has(
    database: Database, ids: list[object] | None
) -> None:
    whole = log(database, labels=["a", "b", "c"], sample_ids=ids)
    run = opened(database).run

    first, second = (None, None) if ids is None else (ids[:4], ids[4:])
    put_chunk(database, run.id, 0, batch(0, 4, truth=False, ids=first))
    put_chunk(database, run.id, 1, batch(4, 6, truth=False, ids=second))
    finish_run(database, run.id)

    counts = evaluate(database, run.id).matrix.counts
    assert counts.tolist() == evaluate(database, whole.id).matrix.counts.tolist()


def test_every_step_can_be_repeated_and_none_with_other_content(database: Database) -> None:
    run = opened(database).run

    outcomes = [put_chunk(database, run.id, 0, batch(0, 6)) for _ in range(2)]
    with pytest.raises(Conflict, match=r"chunk 0 of run .* with other content"):
        put_chunk(database, run.id, 0, batch(0, 5))
    with pytest.raises(Conflict, match="other content"):
        put_chunk(database, run.id, 0, batch(0, 6, truth=False))
    first, second = finish_run(database, run.id), finish_run(database, run.id)
    outcomes.append(put_chunk(database, run.id, 0, batch(0, 6)))
    with pytest.raises(Conflict, match="is finished and cannot be changed"):
        put_chunk(database, run.id, 1, batch(0, 6))

    assert outcomes == [PutOutcome.STORED, PutOutcome.ALREADY_THERE, PutOutcome.ALREADY_THERE]
    assert first == second
    tables = (WorkRow, PendingTruthRow, TruthVersionRow)
    assert [count_rows(database, table) for table in tables] == [1, 0, 1]


def test_a_run_with_a_missing_chunk_or_none_stays_open(database: Database) -> None:
    run = opened(database).run

    with pytest.raises(InvalidInput, match="has no predictions"):
        finish_run(database, run.id)
    put_chunk(database, run.id, 1, batch(0, 6))
    with pytest.raises(Conflict, match=r"chunk 0 of run .* is missing"):
        finish_run(database, run.id)

    with database.read() as session:
        assert runs.get_run(session, run.id).state is RunState.OPEN


@pytest.mark.parametrize(
    ("second", "field"),
    [
        (batch(3, 6, truth=False, ids=[4, 5, 6]), "y_true"),
        (batch(3, 6), "sample_ids"),
        (batch(3, 6, ids=[4, 5, 6], scores=True), "y_score"),
    ],
)
def test_batches_must_carry_the_same_arrays(database: Database, second: Batch, field: str) -> None:
    run = opened(database).run
    put_chunk(database, run.id, 0, batch(0, 3, ids=[1, 2, 3]))
    put_chunk(database, run.id, 1, second)

    with pytest.raises(InvalidInput, match="some batches of this run") as caught:
        finish_run(database, run.id)

    assert caught.value.field == field


def test_chunks_must_have_as_many_scores_for_each_sample(database: Database) -> None:
    run = opened(database).run
    for seq, score in enumerate((np.zeros((3, 3)), np.zeros((3, 2)))):
        columns = Scores(score.astype(np.float32))
        put_chunk(database, run.id, seq, replace(batch(3 * seq, 3 * seq + 3), scores=columns))

    with pytest.raises(InvalidInput, match="2 for each sample and some have 3") as caught:
        finish_run(database, run.id)

    assert caught.value.field == "y_score"


def test_an_identifier_in_two_chunks_is_named(database: Database) -> None:
    run = opened(database).run
    put_chunk(database, run.id, 0, batch(0, 3, ids=[1, 2, 3]))
    put_chunk(database, run.id, 1, batch(3, 6, ids=[4, 5, 1]))

    with pytest.raises(InvalidInput, match="1 occurs twice"):
        finish_run(database, run.id)


def test_an_unknown_run_is_said_to_be_unknown(database: Database) -> None:
    with pytest.raises(NotFound, match="there is no run 'r_none'"):
        put_chunk(database, "r_none", 0, batch(0, 6))
