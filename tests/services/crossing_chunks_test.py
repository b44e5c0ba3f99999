"""One chunk that two requests bring at the same moment, as a retry that crosses its original."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunks import PutOutcome, put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.store import predictions
from offdiag.store.database import Database, Session
from support.logging_runs import opened

BOTH_WITHIN_S = 0.5


@pytest.mark.both_databases
def test_the_same_chunk_twice_at_once_is_stored_once(database: Database) -> None:
    run_id = opened(database, "mail", LabelSet(("ham", "spam"))).run.id
    codes = np.array([0, 1, 1], dtype=np.uint8)
    both = threading.Barrier(2)
    look = predictions.chunk_sha256

    def look_at_once(session: Session, run: str, seq: int) -> str | None:
        found = look(session, run, seq)
        # SQLite lets one in after the other, who then waits here in vain.
        with suppress(threading.BrokenBarrierError):
            both.wait(BOTH_WITHIN_S)
        return found

    with (
        patch.object(predictions, "chunk_sha256", look_at_once),
        ThreadPoolExecutor() as threads,
    ):
        puts = [
            threads.submit(put_chunk, database, run_id, 0, Batch(codes, codes)) for _ in range(2)
        ]
        outcomes = sorted(put.result() for put in puts)

    assert outcomes == [PutOutcome.ALREADY_THERE, PutOutcome.STORED]
    assert finish_run(database, run_id, n_chunks=1).n_predictions == len(codes)
