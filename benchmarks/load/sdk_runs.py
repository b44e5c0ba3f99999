"""Runs that clients log with the SDK: what they hold, how they are logged, what is answered."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

import offdiag
import offdiag.sdk.remote.registry  # Loaded once here, and not again by each client.
from load.observations import NO_RESPONSE, Observation
from offdiag.domain.labels import LabelSet
from offdiag.services.ingest.batch import read_batch

LABELS = LabelSet(("ham", "phishing", "spam"))
DATASETS = ((500, 8), (5_000, 3), (100_000, 1))
"""Cases of the three datasets that are logged to, and out of twelve runs how many are."""
_BATCHES = 4
_KINDS = (
    ("POST", re.compile(r"/runs$"), "open a run"),
    ("PUT", re.compile(r"/chunks/\d+$"), "put a chunk"),
    ("POST", re.compile(r"/finish$"), "finish a run"),
)

Codes = NDArray[np.int64]


def truths() -> list[Codes]:
    """The actual classes of the datasets, the same for all clients."""
    return [
        np.random.default_rng(n_samples).choice(3, n_samples, p=(0.9, 0.02, 0.08))
        for n_samples, _ in DATASETS
    ]


def drawn(truths: list[Codes], rng: np.random.Generator) -> tuple[Codes, Codes]:
    """The actual and the predicted classes of a run of one of the datasets."""
    chances = np.array([share for _, share in DATASETS]) / 12
    truth = truths[rng.choice(len(truths), p=chances)]
    return truth, np.where(rng.random(len(truth)) < 0.2, rng.integers(0, 3, len(truth)), truth)


def log_batches(url: str, project: str, key: str, truth: Codes, predicted: Codes) -> None:
    """Log one run batch by batch. Raises what the SDK raises."""
    names = np.array(LABELS.names)
    with offdiag.start_run(
        name=key,
        project=project,
        dataset=f"mail, {len(truth)} cases",
        labels=LABELS.names,
        client_key=key,
        url=url,
    ) as run:
        for part in np.array_split(np.arange(len(truth)), _BATCHES):
            run.log(y_true=names[truth[part]], y_pred=names[predicted[part]])


def ledger_line(key: str, truth: Codes, predicted: Codes) -> str:
    """The client key of a run and the content digest it must have: it fits into one chunk."""
    names = np.array(LABELS.names)
    batch = read_batch(
        y_pred=names[predicted],
        y_true=names[truth],
        y_score=None,
        ids=None,
        labels=LABELS,
        positive_label=None,
    )
    return f"{key} {hashlib.sha256(batch.digest(LABELS).encode()).hexdigest()}\n"


def observe_requests(seen: Callable[[Observation], None]) -> None:
    """Note each request that the SDK sends, those that it makes again too."""
    send: Callable[..., httpx.Response] = httpx.Client.send

    def observed(client: httpx.Client, request: httpx.Request, **named: Any) -> httpx.Response:
        started = time.perf_counter()
        kind = _kind(request)
        try:
            answer = send(client, request, **named)
        except httpx.TransportError:
            seen(Observation(kind, NO_RESPONSE, time.perf_counter() - started))
            raise
        seconds = time.perf_counter() - started
        says_when = "Retry-After" in answer.headers
        seen(Observation(kind, answer.status_code, seconds, says_when))
        return answer

    httpx.Client.send = observed  # type: ignore[method-assign, assignment]  # one more layer


def _kind(request: httpx.Request) -> str:
    for method, path, kind in _KINDS:
        if request.method == method and path.search(request.url.path):
            return kind
    return "ask about a run"
