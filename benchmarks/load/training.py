"""A training client: logs runs with the SDK until its time is over, and keeps a ledger."""

from __future__ import annotations

import os
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import offdiag
from load import observations
from load.observations import Observation
from load.sdk_runs import Codes, drawn, ledger_line, log_batches, observe_requests, truths

PROJECT = "training"
WHOLE_RUN = "log a run"
"""From opening it to the acknowledgement that it is stored whole."""
_CROSSED = 5
"""One run in so many is sent twice at the same time, as by a retry that crosses its original."""


@dataclass(frozen=True, slots=True)
class Training:
    """One client: where it logs to, for how long, and seconds between two of its runs."""

    number: int
    url: str
    token: str
    seconds: float
    pause_s: float
    folder: Path


def train(client: Training) -> None:
    """Log runs until the time is over; the entry point of a process."""
    os.environ.update(
        OFFDIAG_TOKEN=client.token, OFFDIAG_SPOOL=str(client.folder / f"spool-{client.number}")
    )
    # Once for the whole process: to set it for a while would be undone by the other thread.
    warnings.simplefilter("error", offdiag.errors.RunKept)
    seen: list[Observation] = []
    observe_requests(seen.append)
    rng = np.random.default_rng([31, client.number])
    known = truths()
    until, number = time.monotonic() + client.seconds, 0
    time.sleep(rng.uniform(0, client.pause_s))
    while time.monotonic() < until:
        _log(client, number, *drawn(known, rng), seen)
        number += 1
        time.sleep(rng.exponential(client.pause_s))
    observations.write(client.folder / f"training-{client.number}.seen", seen)


def _log(
    client: Training, number: int, truth: Codes, predicted: Codes, seen: list[Observation]
) -> None:
    key = f"client-{client.number}-run-{number}"
    is_crossed = number % _CROSSED == 0

    def send() -> None:
        started = time.perf_counter()
        if _acknowledged(client.url, key, truth, predicted, is_crossed=is_crossed):
            # Only what was acknowledged stands in the ledger, and it stands there at once.
            with (client.folder / f"{client.number}.ledger").open("a") as ledger:
                ledger.write(ledger_line(key, truth, predicted))
            seen.append(Observation(WHOLE_RUN, 200, time.perf_counter() - started))
        else:
            # The SDK lost its patience and keeps the run, for `offdiag sync` to send it.
            seen.append(Observation(WHOLE_RUN, 503, time.perf_counter() - started, says_when=True))

    twin = threading.Thread(target=send) if is_crossed else None
    if twin is not None:
        twin.start()
    send()
    if twin is not None:
        twin.join()


def _acknowledged(url: str, key: str, truth: Codes, predicted: Codes, *, is_crossed: bool) -> bool:
    """Log one run; whether the server said that it has it whole."""
    try:
        log_batches(url, PROJECT, key, truth, predicted)
    except (offdiag.errors.ServerUnavailable, offdiag.errors.RunKept):
        return False
    except offdiag.errors.Conflict:
        # Both lost their patience, and the other keeps the run already.
        if not is_crossed:
            raise
        return False
    return True
