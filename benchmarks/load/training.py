"""A training client: logs runs with the SDK until its time is over, and keeps a ledger."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

import offdiag
import offdiag.sdk.remote.registry  # Loaded once here, and not again by each client.
from load import observations
from load.observations import NO_ANSWER, Observation
from offdiag.domain.labels import LabelSet
from offdiag.services.ingest.batch import read_batch

PROJECT = "training"
LABELS = LabelSet(("ham", "phishing", "spam"))
WHOLE_RUN = "log a run"
"""From opening it to the acknowledgement that it is stored whole."""
_DATASETS = ((500, 8), (5_000, 3), (100_000, 1))
"""Cases of the three datasets that are logged to, and out of twelve runs how many are."""
_BATCHES = 4
_CROSSED = 5
"""One run in so many is sent twice at the same time, as by a retry that crosses its original."""
_KINDS = (
    ("POST", re.compile(r"/runs$"), "open a run"),
    ("PUT", re.compile(r"/chunks/\d+$"), "put a chunk"),
    ("POST", re.compile(r"/finish$"), "finish a run"),
)

Codes = NDArray[np.int64]


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
    _observe_requests(seen)
    rng = np.random.default_rng([31, client.number])
    truths = [_truth(n_cases) for n_cases, _ in _DATASETS]
    chances = np.array([share for _, share in _DATASETS]) / 12
    until, number = time.monotonic() + client.seconds, 0
    time.sleep(rng.uniform(0, client.pause_s))
    while time.monotonic() < until:
        truth = truths[rng.choice(len(truths), p=chances)]
        predicted = np.where(rng.random(len(truth)) < 0.2, rng.integers(0, 3, len(truth)), truth)
        _log(client, number, truth, predicted, seen)
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
                ledger.write(f"{key} {_digest(truth, predicted)}\n")
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
    """Log one run batch by batch; whether the server said that it has it whole."""
    names = np.array(LABELS.names)
    try:
        with offdiag.start_run(
            name=key,
            project=PROJECT,
            dataset=f"mail, {len(truth)} cases",
            labels=LABELS.names,
            client_key=key,
            url=url,
        ) as run:
            for part in np.array_split(np.arange(len(truth)), _BATCHES):
                run.log(y_true=names[truth[part]], y_pred=names[predicted[part]])
    except (offdiag.errors.ServerUnavailable, offdiag.errors.RunKept):
        return False
    except offdiag.errors.Conflict:
        # Both lost their patience, and the other keeps the run already.
        if not is_crossed:
            raise
        return False
    return True


def _digest(truth: Codes, predicted: Codes) -> str:
    """The content digest the run must have: it fits into one chunk."""
    names = np.array(LABELS.names)
    batch = read_batch(
        y_pred=names[predicted],
        y_true=names[truth],
        y_score=None,
        ids=None,
        labels=LABELS,
        positive_label=None,
    )
    return hashlib.sha256(batch.digest(LABELS).encode()).hexdigest()


def _truth(n_cases: int) -> Codes:
    return np.random.default_rng(n_cases).choice(3, n_cases, p=(0.9, 0.02, 0.08))


def _observe_requests(seen: list[Observation]) -> None:
    """Note each request that the SDK sends, those that it makes again too."""
    send: Callable[..., httpx.Response] = httpx.Client.send

    def observed(client: httpx.Client, request: httpx.Request, **named: Any) -> httpx.Response:
        started = time.perf_counter()
        kind = _kind(request)
        try:
            answer = send(client, request, **named)
        except httpx.TransportError:
            seen.append(Observation(kind, NO_ANSWER, time.perf_counter() - started))
            raise
        seconds = time.perf_counter() - started
        says_when = "Retry-After" in answer.headers
        seen.append(Observation(kind, answer.status_code, seconds, says_when))
        return answer

    httpx.Client.send = observed  # type: ignore[method-assign, assignment]  # one more layer


def _kind(request: httpx.Request) -> str:
    for method, path, kind in _KINDS:
        if request.method == method and path.search(request.url.path):
            return kind
    return "ask about a run"
