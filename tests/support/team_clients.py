"""Programs that log to a team's servers as a careful one does: one more try, at another server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx

from support.access import bearer

PATH = "/api/v1/matrices"


class TeamClient:
    """Logs matrices, each with a key of its own, and writes down what was acknowledged.

    `chosen` are the servers to try, the best first; it is asked before each request.
    """

    def __init__(
        self, name: str, token: str, ledger: Path, chosen: Callable[[], Sequence[str]]
    ) -> None:
        self.statuses: list[int] = []
        self.failures: list[str] = []
        self.n_acknowledged = 0
        self._name = name
        self._ledger = ledger
        self._chosen = chosen
        self._random = Random(name)
        self._http = httpx.Client(headers=bearer(token), timeout=60)

    def log(self) -> None:
        """Log one; what could not be logged in two tries is a failure."""
        key = f"{self._name}-{self.n_acknowledged}"
        body = {
            "name": key,
            "client_key": key,
            "dataset": "holdout",
            "labels": ["a", "b"],
            "orientation": "actual_rows",
            "matrix": [[self._random.randrange(1, 99) for _ in "ab"] for _ in "ab"],
        }
        answer = self._answer("POST", PATH, body)
        if answer is not None:
            with self._ledger.open("a", encoding="utf-8") as entries:
                entries.write(f"{key} {answer['content_digest']}\n")
            self.n_acknowledged += 1

    def read(self) -> None:
        """Look at the newest runs."""
        self._answer("GET", "/api/v1/runs?limit=1", None)

    def close(self) -> None:
        self._http.close()

    def _answer(self, method: str, path: str, body: object) -> Any:
        said = []
        for server in list(self._chosen())[:2]:
            try:
                answer = self._http.request(method, f"{server}{path}", json=body)
            except httpx.TransportError as error:
                said.append(repr(error))
                continue
            self.statuses.append(answer.status_code)
            if answer.status_code < 300:
                return answer.json()
            said.append(f"{answer.status_code} {answer.text}")
        self.failures.append(f"{method} {path}: {said}")
        return None


@contextmanager
def busy(clients: Sequence[TeamClient]) -> Iterator[None]:
    """Let each of them log and read all the time, while the block lasts."""
    enough = threading.Event()

    def act(client: TeamClient) -> None:
        while not enough.is_set():
            client.log()
            client.read()
            enough.wait(0.5)

    threads = [threading.Thread(target=act, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
