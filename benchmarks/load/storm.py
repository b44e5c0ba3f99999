"""Clients that log and readers that look, all at once; then the books are compared."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from load import observations
from load.ledger_balance import Books, balance, wrong_runs
from load.observations import Observation
from load.page_list import page_list
from load.page_reads import READ, Reading, read
from load.processes import served
from load.subjects import subjects_of
from load.tokens import tokens_for
from load.training import PROJECT, Training, train
from offdiag.store.database import Database

_LATE_S = 120.0
"""So long clients may take to end what they began when their time is over."""


@dataclass(frozen=True, slots=True)
class Storm:
    """How many of whom, for how long; pauses are means, in seconds."""

    clients: int
    readers: int
    workers: int
    seconds: float
    client_pause_s: float
    reader_pause_s: float
    evaluated_within_s: float


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What everybody saw, and what the registry holds."""

    seen: Sequence[Observation]
    books: Books
    wrong: int


def let_loose(storm: Storm, database: Database, folder: Path) -> Aftermath:
    """Run a storm over a registry that is there; its files lie in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: page.path for name, page in page_list(subjects_of(database)).items()}
    chosen = {name: paths[name] for name in READ}
    tokens = tokens_for(database, storm.clients + storm.readers)
    database.close()
    with served(database.url, folder, n_workers=storm.workers) as server:
        everybody = _started(storm, server.url, tokens, folder, chosen)
        give_up_at = time.monotonic() + storm.seconds + _LATE_S
        for process in everybody:
            process.join(max(0.0, give_up_at - time.monotonic()))
        n_hanging = _end(everybody)
        if n_hanging:
            raise RuntimeError(f"{n_hanging} clients did not end")
        books = balance(database, folder, PROJECT, within_s=storm.evaluated_within_s)
    return Aftermath(observations.read(folder), books, wrong_runs(database, PROJECT))


def _started(
    storm: Storm, url: str, tokens: Sequence[str], folder: Path, paths: Mapping[str, str]
) -> list[BaseProcess]:
    # Not forks of this process, which has threads; but of one that has loaded the libraries.
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(["load.training", "load.page_reads"])
    everybody: list[BaseProcess] = []
    for number, token in enumerate(tokens):
        if number < storm.clients:
            client = Training(number, url, token, storm.seconds, storm.client_pause_s, folder)
            everybody.append(forking.Process(target=train, args=(client,)))
        else:
            reader = Reading(
                number, url, token, storm.seconds, storm.reader_pause_s, folder, paths
            )
            everybody.append(forking.Process(target=read, args=(reader,)))
    for process in everybody:
        process.start()
    return everybody


def _end(everybody: Sequence[BaseProcess]) -> int:
    """End those that hang; how many there were, or that failed."""
    for process in everybody:
        if process.is_alive():
            process.kill()
            process.join()
    return sum(process.exitcode != 0 for process in everybody)
