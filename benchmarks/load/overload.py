"""Far more readers than a server can answer: who is let in, how fast, and what that costs."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

from load import observations
from load.memory import resident_mib
from load.observations import NO_RESPONSE, Observation
from load.page_list import page_list
from load.page_reads import READ, Reading, read
from load.processes import Server, served
from load.subjects import subjects_of
from load.tokens import tokens_for
from offdiag.store.database import Database

IS_ALIVE = "is it alive"
_PROCESSES = 4
_LOOK_EVERY_S = 1.0
_LATE_S = 120.0
_SHARE_AT_ENDS = 10
"""The tenth part of the samples after the first minute, and of the last, is compared."""


@dataclass(frozen=True, slots=True)
class Overload:
    """So many readers that pause for so long on average, for so many seconds.

    What memory the server comes to hold in the first `warm_s` is not counted as growth.
    """

    readers: int
    pause_s: float
    seconds: float
    warm_s: float


@dataclass(frozen=True, slots=True)
class Overloaded:
    """What readers saw, what `/healthz` said meanwhile, and MiB of the server once a second."""

    seen: Sequence[Observation]
    alive: Sequence[Observation]
    memory_mib: Sequence[float]

    @property
    def growth(self) -> float:
        """Memory at the end over memory after the warm-up, medians of a tenth of the samples."""
        some = max(1, len(self.memory_mib) // _SHARE_AT_ENDS)
        return median(self.memory_mib[-some:]) / median(self.memory_mib[:some])


def overload(plan: Overload, database: Database, folder: Path) -> Overloaded:
    """Let readers loose on a server over a registry; its files lie in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: page.path for name, page in page_list(subjects_of(database)).items()}
    chosen = {name: paths[name] for name in READ}
    tokens = tokens_for(database, plan.readers)
    database.close()
    with served(database.url, folder, n_workers=0) as server:
        readers = [
            Reading(number, server.url, token, plan.seconds, plan.pause_s, folder, chosen)
            for number, token in enumerate(tokens)
        ]
        forking = multiprocessing.get_context("forkserver")
        crowds = [
            forking.Process(target=_read_side_by_side, args=(readers[first::_PROCESSES],))
            for first in range(_PROCESSES)
        ]
        for crowd in crowds:
            crowd.start()
        alive, memory_mib = _watched(plan, server)
        for crowd in crowds:
            crowd.join(_LATE_S)
        if any(crowd.exitcode != 0 for crowd in crowds):
            raise RuntimeError("readers did not end")
    return Overloaded(observations.read(folder), alive, memory_mib)


def _read_side_by_side(readers: Sequence[Reading]) -> None:
    threads = [threading.Thread(target=read, args=(reader,)) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _watched(plan: Overload, server: Server) -> tuple[list[Observation], list[float]]:
    alive: list[Observation] = []
    memory_mib: list[float] = []
    with httpx.Client(base_url=server.url, timeout=30) as client:
        # Making one may take a second.
        began = time.monotonic()
        while (passed_s := time.monotonic() - began) < plan.seconds:
            alive.append(_is_alive(client))
            if passed_s > plan.warm_s:
                memory_mib.append(resident_mib(server.pid))
            time.sleep(_LOOK_EVERY_S)
    return alive, memory_mib


def _is_alive(client: httpx.Client) -> Observation:
    started = time.perf_counter()
    try:
        status = client.get("/healthz").status_code
    except httpx.TransportError:
        status = NO_RESPONSE
    return Observation(IS_ALIVE, status, time.perf_counter() - started)
