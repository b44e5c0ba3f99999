"""The programs of a soak that ask: clients that log with the SDK, and readers of pages.

A client that is killed is started again and repeats the run it was at, with the same client key.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from load.page_reads import ask
from load.sdk_runs import drawn, ledger_line, log_batches, observe_requests, truths
from offdiag.errors import RunKept
from soak.responses import Answers

PROJECT = "soak"
_LOOK_EVERY_S = 0.5
"""How long it may take to notice that it is enough."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks which server, how often, and until when.

    `pause_s` are seconds from the beginning of one request to that of the next on average, 0
    for no pauses; `enough` is a file that is there once it is enough.
    """

    number: int
    url: str
    token: str
    seed: int
    pause_s: float
    folder: Path
    enough: Path


def log_runs(client: Asking) -> None:
    """Log one run after the other; the entry point of a process."""
    os.environ.update(OFFDIAG_TOKEN=client.token, OFFDIAG_SPOOL=str(spool_of(client)))
    answers = Answers(client.folder, f"client-{client.number}-{os.getpid()}")
    observe_requests(answers.count)
    known = truths()

    def log_next() -> None:
        number = _n_ended(client)
        key = f"{PROJECT}-{client.number}-{number}"
        run = drawn(known, np.random.default_rng([client.seed, client.number, number]))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            log_batches(client.url, PROJECT, key, *run)
        # Where the SDK lost its patience it keeps the run, for `offdiag sync` to send it.
        is_kept = any(issubclass(each.category, RunKept) for each in said)
        book = _kept(client) if is_kept else _ledger(client)
        with book.open("a", encoding="utf-8") as lines:
            lines.write(ledger_line(key, *run))

    _again_and_again(client, log_next)


def read_pages(readers: Sequence[Asking], paths: Mapping[str, str]) -> None:
    """Read pages by name, all readers side by side; the entry point of a process."""
    threads = [threading.Thread(target=_read, args=(reader, paths)) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def spool_of(client: Asking) -> Path:
    """Where the SDK keeps what it could not send."""
    return client.folder / f"spool-{client.number}"


def _read(reader: Asking, paths: Mapping[str, str]) -> None:
    answers = Answers(reader.folder, f"reader-{reader.number}-{os.getpid()}")
    rng = np.random.default_rng([reader.seed, reader.number, 1])
    names = sorted(paths)
    headers = {"Authorization": f"Bearer {reader.token}"}
    with httpx.Client(base_url=reader.url, headers=headers, timeout=60) as http:

        def read_one() -> None:
            name = names[rng.integers(len(names))]
            answers.count(ask(http, name, paths[name]))

        _again_and_again(reader, read_one)


def _again_and_again(who: Asking, act: Callable[[], None]) -> None:
    """Act once at least: a client that was killed has to end what it had begun."""
    rng = np.random.default_rng([who.seed, who.number])
    due = time.monotonic() + rng.uniform(0, who.pause_s)
    is_enough = False
    while not is_enough:
        while not (is_enough := who.enough.exists()):
            left_s = due - time.monotonic()
            if left_s <= 0:
                break
            time.sleep(min(left_s, _LOOK_EVERY_S))
        due = time.monotonic() + rng.exponential(who.pause_s)
        act()


def _n_ended(client: Asking) -> int:
    return sum(_n_lines(book) for book in (_ledger(client), _kept(client)))


def _n_lines(book: Path) -> int:
    return book.read_bytes().count(b"\n") if book.exists() else 0


def _ledger(client: Asking) -> Path:
    return client.folder / f"{client.number}.ledger"


def _kept(client: Asking) -> Path:
    return client.folder / f"{client.number}.kept"
