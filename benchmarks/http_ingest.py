"""Logging over HTTP: one client and `offdiag serve`, compared with other formats and a copy.

    python benchmarks/http_ingest.py [--full]

Each variant sends the same million predictions, with a score each, to a server in a process of its
own: it opens a run, sends its chunks and finishes it. Arrow is sent by the SDK from arrays, and
without the SDK from prepared bodies that hold as much as those of the SDK. JSON has columns,
written by the standard library. The SDK also logs to the database directly, which shows what HTTP
adds; the copy moves the same bytes in memory. `--full` measures PostgreSQL too, with a server that
comes with the development tools and loses nothing in a crash.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import numpy as np
from harness import Report, ratio, wants_everything

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.inputs.bodies.columns import MOST_ROWS
from offdiag.services.ingest.batch import Batch, chunked, read_batch
from offdiag.services.ingest.chunk_stream import MEDIA_TYPE, write_chunk
from offdiag.store.database import Database
from offdiag.store.schema import upgrade

N = 1_000_000
LABELS = LabelSet(("0", "1"))
SDK, DIRECT = "SDK, log_run", "SDK, log_run into the database itself"
ARROW, JSON, COPY = "Arrow, bodies ready", "JSON columns", "copy of memory"


class Sample:
    """A million predictions of two classes with the score of one."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.truth = rng.integers(0, 2, N)
        self.predicted = np.where(rng.random(N) < 0.2, 1 - self.truth, self.truth)
        self.scores = rng.random(N, dtype=np.float32)
        batch = read_batch(
            y_pred=self.predicted,
            y_true=self.truth,
            y_score=self.scores,
            ids=None,
            labels=LABELS,
            positive_label="1",
        )
        parts = list(chunked(batch, MOST_ROWS))
        self.arrow = [bytes(write_chunk(part, LABELS)) for part in parts]
        self.json = [_json(part) for part in parts]


def main() -> None:
    report = Report("http_ingest", libraries=("flask", "httpx", "pyarrow", "waitress"))
    sample = Sample()
    bases = ["sqlite", *(["postgresql"] if wants_everything(__doc__ or "") else [])]
    for base in bases:
        with tempfile.TemporaryDirectory() as folder, _server(base, Path(folder)) as server:
            url = server.url
            timings = report.measure(
                f"{base}, n = {N:.0e}, 2 classes, one score",
                {
                    ARROW: _by_hand(url, sample.arrow, MEDIA_TYPE),
                    SDK: partial(_by_sdk, url, sample),
                    DIRECT: partial(_by_sdk, server.database, sample),
                    JSON: _by_hand(url, sample.json, "application/json"),
                    COPY: lambda: [bytearray(body) for body in sample.arrow],
                },
                turns=5,
            )
            used = _processor_seconds(server, _by_hand(url, sample.arrow, MEDIA_TYPE))
            report.fact(f"processor seconds of the server per million, {base}, Arrow", used)
        for name, variant in (("Arrow", ARROW), ("SDK", SDK)):
            per_second = round(N / timings[variant].median_s)
            report.fact(f"predictions per second, {base}, {name}", per_second)
        report.fact(
            f"SDK / SDK into the database itself, {base}", round(ratio(timings, SDK, DIRECT), 2)
        )
        report.goal(
            f"Arrow / SDK into the database itself, {base}",
            measured=ratio(timings, ARROW, DIRECT),
            wanted=2.5,
            at_least=False,
        )
        report.goal(
            f"JSON columns / Arrow, {base}", measured=ratio(timings, JSON, ARROW), wanted=5
        )
    report.fact("bytes of a prediction as Arrow", sum(map(len, sample.arrow)) / N)
    report.save()


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, its process, and its registry."""

    url: str
    pid: int
    database: str

    @property
    def processor_s(self) -> float:
        """Processor seconds it has used, which other load on the machine hardly changes."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _processor_seconds(server: Server, send: Callable[[], None], turns: int = 10) -> float:
    send()
    before = server.processor_s
    for _ in range(turns):
        send()
    return round((server.processor_s - before) / turns, 4)


def _by_sdk(url: str, sample: Sample) -> object:
    return offdiag.log_run(
        y_true=sample.truth,
        y_pred=sample.predicted,
        y_score=sample.scores,
        positive_label=1,
        labels=[0, 1],
        name="run",
        dataset="bench",
        url=url,
    )


def _by_hand(url: str, bodies: list[bytes], kind: str) -> Callable[[], None]:
    client = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
    numbers = itertools.count()

    def send() -> None:
        opened = client.post(
            "/runs",
            json={
                "name": "run",
                "dataset": "bench",
                "labels": list(LABELS.names),
                "positive_label": "1",
                "client_key": f"{kind} {next(numbers)}",
            },
        ).raise_for_status()
        run = opened.json()["id"]
        for seq, body in enumerate(bodies):
            client.put(
                f"/runs/{run}/chunks/{seq}", content=body, headers={"Content-Type": kind}
            ).raise_for_status()
        client.post(f"/runs/{run}/finish", json={"n_chunks": len(bodies)}).raise_for_status()

    return send


def _json(batch: Batch) -> bytes:
    assert batch.actual is not None
    assert batch.scores is not None
    names = LABELS.names
    columns = {
        "y_pred": [names[code] for code in batch.predicted.tolist()],
        "y_true": [names[code] for code in batch.actual.tolist()],
        "y_score": batch.scores.values[:, 0].tolist(),
    }
    return json.dumps(columns).encode()


@contextmanager
def _server(base: str, folder: Path) -> Iterator[Server]:
    """`offdiag serve` without a worker, so that evaluations do not interfere."""
    with ExitStack() as stack:
        database = f"sqlite:///{folder / 'registry.db'}"
        if base == "postgresql":
            sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
            from support.postgres import lasting_server

            database = stack.enter_context(lasting_server()).create("bench")
            team = Database(database)
            upgrade(team)
            team.close()
        command = str(Path(sys.executable).with_name("offdiag"))
        process = subprocess.Popen(
            [command, "serve", "--port", "0", "--no-worker", "--url", database],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={
                **{name: text for name, text in os.environ.items() if "OFFDIAG" not in name},
                "OFFDIAG_SERVER__SECRET_KEY": "0123456789abcdef" * 4,
            },
        )
        stack.callback(process.communicate)
        stack.callback(process.kill)
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield Server(found[0].rstrip("/"), process.pid, database)


if __name__ == "__main__":
    main()
