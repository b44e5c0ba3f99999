"""A reader: asks for one page after the other, as somebody does who looks around."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from load import observations
from load.observations import NO_RESPONSE, Observation

READ = (
    "runs",
    "runs, from the middle on",
    "runs by MCC",
    "runs of a dataset by MCC",
    "runs as JSON",
    "a run",
    "classes of a run",
    "a run, interface",
    "matrix as a picture",
    "matrix as JSON",
    "problems",
    "a flag",
    "compare two runs",
    "home",
)
"""What readers choose from, each as often."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reader; `paths` are pages by name."""

    number: int
    url: str
    token: str
    seconds: float
    pause_s: float
    folder: Path
    paths: Mapping[str, str]


def read(reader: Reading) -> None:
    """Ask for pages until the time is over; the entry point of a process."""
    rng = np.random.default_rng([32, reader.number])
    names = sorted(reader.paths)
    seen: list[Observation] = []
    until = time.monotonic() + reader.seconds
    headers = {"Authorization": f"Bearer {reader.token}"}
    with httpx.Client(base_url=reader.url, headers=headers, timeout=60) as client:
        while time.monotonic() < until:
            time.sleep(rng.exponential(reader.pause_s))
            name = names[rng.integers(len(names))]
            seen.append(ask(client, name, reader.paths[name]))
    observations.write(reader.folder / f"reading-{reader.number}.seen", seen)


def ask(client: httpx.Client, name: str, path: str) -> Observation:
    """Ask for one page."""
    kind, started = f"read {name}", time.perf_counter()
    try:
        answer = client.get(path)
    except httpx.TransportError:
        return Observation(kind, NO_RESPONSE, time.perf_counter() - started)
    seconds = time.perf_counter() - started
    return Observation(kind, answer.status_code, seconds, "Retry-After" in answer.headers)
