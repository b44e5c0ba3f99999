"""`offdiag serve` (waitress) and gunicorn as its example configures it, under the same load.

    python benchmarks/servers.py [--full]

Both serve a registry with the same forty runs, on the same machine as the clients. They take
turns; a turn is a fixed number of requests of one kind by one client or by four at a time.
Latencies are wall-clock times, as clients see them; processor seconds are those of all processes
of a server. On two cores four clients leave the servers little more than one, so their figures
show how a busy machine is shared, not what a server can reach. `--full` measures PostgreSQL, too.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import httpx
import numpy as np
from harness import Report, Timing, wants_everything

import offdiag
from load.process_tree import descendants
from load.programs import (
    environment_of,
    free_port,
    gunicorn_command,
    offdiag_command,
    wait_until_it_answers,
)
from load.tokens import tokens_for
from offdiag.store.database import Database
from offdiag.store.schema import open_database, upgrade

N_RUNS = 40
LABELS = [f"class {code}" for code in range(10)]
CLIENTS = (1, 4)
"""More than four at a time wait for a thread, and reads are soon refused (`server.threads`)."""
TURNS = 5
N_REQUESTS = 80
"""Number of requests in a turn, of all clients together."""
SERVE, GUNICORN = "offdiag serve", "gunicorn"
LIMIT = 1.25
"""How much more processor time than gunicorn `offdiag serve` may take for one client."""
UNLIMITED = {
    f"OFFDIAG_ACCESS__{kind}_LIMIT": "1000000 per minute" for kind in ("READ", "WRITE", "API")
}

Ask = Callable[[httpx.Client, str], object]
"""One request, or all requests of logging one run; the text is the id of a run to read."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, first process, one of its runs, and a token per client."""

    url: str
    pid: int
    run: str
    tokens: Sequence[str]

    @property
    def processor_s(self) -> float:
        """Processor seconds used by it and its children."""
        return sum(_processor_s(pid) for pid in (self.pid, *descendants(self.pid)))


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of one kind by this many clients at a time, each with an equal number."""

    ask: Ask
    n_clients: int

    def on(self, server: Server) -> list[float]:
        """Seconds that each of the requests took."""

        def one_client(token: str) -> list[float]:
            seconds = []
            shown = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=server.url, headers=shown, timeout=60) as client:
                for _ in range(N_REQUESTS // self.n_clients):
                    started = perf_counter()
                    self.ask(client, server.run)
                    seconds.append(perf_counter() - started)
            return seconds

        with ThreadPoolExecutor(self.n_clients) as threads:
            clients = threads.map(one_client, server.tokens[: self.n_clients])
            return list(itertools.chain.from_iterable(clients))


def main() -> None:
    everything = wants_everything("Measure the two servers of the dashboard.")
    report = Report("servers", libraries=("waitress", "gunicorn", "flask", "httpx"))
    for base in ("sqlite", "postgresql") if everything else ("sqlite",):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            servers = stack.enter_context(_servers(base, Path(folder)))
            for name, ask in _requests().items():
                for n_clients in CLIENTS:
                    load = Load(ask, n_clients)
                    _measure(report, f"{base}, {name}, {n_clients} at a time", servers, load)
    report.save()


def _measure(report: Report, case: str, servers: Mapping[str, Server], load: Load) -> None:
    waited: dict[str, list[float]] = {name: [] for name in servers}
    worked = dict.fromkeys(servers, 0.0)
    took = dict.fromkeys(servers, 0.0)
    order = random.Random(case)
    for turn in range(TURNS + 1):
        for name in order.sample(list(servers), len(servers)):
            server = servers[name]
            before, started = server.processor_s, perf_counter()
            seconds = load.on(server)
            if turn:  # The first turn fills caches.
                took[name] += perf_counter() - started
                worked[name] += server.processor_s - before
                waited[name] += seconds
    timings = {name: Timing(name, tuple(seconds)) for name, seconds in waited.items()}
    report.record(case, timings)
    n_asked = TURNS * N_REQUESTS
    for name, seconds in waited.items():
        report.fact(f"{case}: {name}, median, ms", round(median(seconds) * 1e3, 2))
        late = quantiles(seconds, n=20)[-1]
        report.fact(f"{case}: {name}, 95th percentile, ms", round(late * 1e3, 2))
        report.fact(f"{case}: {name}, requests per second", round(n_asked / took[name]))
        report.fact(
            f"{case}: {name}, processor ms per request", round(worked[name] / n_asked * 1e3, 2)
        )
    if load.n_clients == 1:
        report.goal(
            f"{case}: processor time, {SERVE} / {GUNICORN}",
            measured=worked[SERVE] / worked[GUNICORN],
            wanted=LIMIT,
            at_least=False,
        )


def _requests() -> Mapping[str, Ask]:
    """The requests that both servers get, as both have the same runs."""
    rng = np.random.default_rng(3)
    actual = [LABELS[code] for code in rng.integers(0, 10, 1_000)]
    keys = itertools.count()

    def get(path: str) -> Ask:
        return lambda client, run: _expect(client, "GET", path.format(run=run))

    def log(client: httpx.Client, _: str) -> None:
        wanted = {"name": "run", "dataset": "logged", "labels": LABELS}
        opened = _expect(client, "POST", "/runs", wanted | {"client_key": f"key {next(keys)}"})
        place = f"/runs/{opened.json()['id']}"
        _expect(client, "PUT", f"{place}/chunks/0", {"y_pred": actual, "y_true": actual})
        _expect(client, "POST", f"{place}/finish", {"n_chunks": 1})

    return {
        "health": get("/healthz"),
        "list of runs": get("/runs"),
        "run page": get("/runs/{run}"),
        "evaluation as JSON": get("/api/v1/runs/{run}/evaluation"),
        "log 1,000 predictions": log,
    }


def _expect(client: httpx.Client, method: str, path: str, body: object = None) -> httpx.Response:
    place = path if method == "GET" else f"/api/v1{path}"
    return client.request(method, place, json=body).raise_for_status()


@contextmanager
def _servers(base: str, folder: Path) -> Iterator[Mapping[str, Server]]:
    """Both servers, each with a registry of its own with the same runs."""
    with ExitStack() as stack:
        if base == "sqlite":
            databases = {name: f"sqlite:///{folder / name}.db" for name in (SERVE, GUNICORN)}
        else:
            sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
            from support.postgres import lasting_server

            team = stack.enter_context(lasting_server())
            databases = {SERVE: team.create("serve"), GUNICORN: team.create("gunicorn")}
        started = {}
        for name, database in databases.items():
            run, tokens = _fill(database), _tokens(database)
            port = free_port()
            command = (
                gunicorn_command(folder / "gunicorn.conf.py", port)
                if name == GUNICORN
                else offdiag_command("serve", "--port", str(port), "--no-worker")
            )
            at = _started(command, port, database, folder / f"{name}.log")
            pid = stack.enter_context(at)
            started[name] = Server(f"http://127.0.0.1:{port}", pid, run, tokens)
        yield started


@contextmanager
def _started(command: list[str], port: int, database: str, log: Path) -> Iterator[int]:
    with (
        log.open("w") as output,
        subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env=environment_of(database, **UNLIMITED),
        ) as process,
    ):
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}", log)
            yield process.pid
        finally:
            # It stops its own processes, or is killed.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


def _fill(url: str) -> str:
    """Log and evaluate the runs; returns the id of the last one."""
    database = Database(url)
    upgrade(database)
    database.close()
    rng = np.random.default_rng(1)
    actual = rng.integers(0, 10, 10_000)
    for number in range(N_RUNS):
        wrong = rng.random(len(actual)) < 0.1 + number / 200
        predicted = np.where(wrong, rng.integers(0, 10, len(actual)), actual)
        run = offdiag.log_run(
            y_true=[LABELS[code] for code in actual],
            y_pred=[LABELS[code] for code in predicted],
            labels=LABELS,
            name=f"run {number}",
            dataset="bench",
            url=url,
        )
    offdiag.evaluate_pending(url=url)
    return str(run.id)


def _tokens(url: str) -> Sequence[str]:
    database = open_database(url)
    try:
        return tokens_for(database, max(CLIENTS))
    finally:
        database.close()


def _processor_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
