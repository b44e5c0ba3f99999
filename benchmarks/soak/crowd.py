"""The clients and readers of a soak as processes: started, killed, started again, told to end."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random

from soak.clients import Asking, log_runs, read_pages

# Not forks of this process, which has threads; but of one that has loaded the libraries.
_FORKING = multiprocessing.get_context("forkserver")
_LATE_S = 120.0
"""So long clients may take to end what they began."""


@dataclass(frozen=True, slots=True)
class Visitors:
    """Who may ask: servers, tokens for clients and then for readers, pages by name."""

    urls: Sequence[str]
    tokens: Sequence[str]
    paths: Mapping[str, str]
    n_clients: int
    seed: int
    folder: Path

    def asking(self, *, runs_pause_s: float, pages_pause_s: float, enough: Path) -> list[Asking]:
        """Each of them with its server in turn, and what a pause takes on average."""
        return [
            Asking(
                number,
                self.urls[number % len(self.urls)],
                token,
                self.seed,
                runs_pause_s if number < self.n_clients else pages_pause_s,
                self.folder,
                enough,
            )
            for number, token in enumerate(self.tokens)
        ]


class Crowd:
    """Everybody who asks, from now until `end`: a process for each client, one for all readers.

    `failures` says of those that ended by themselves with what exit code.
    """

    def __init__(
        self, visitors: Visitors, name: str, *, runs_pause_s: float, pages_pause_s: float
    ) -> None:
        _FORKING.set_forkserver_preload(["soak.clients"])
        self.folder = visitors.folder
        self.failures: list[str] = []
        self.n_started_again = 0
        self._enough = visitors.folder / f"{name}.enough"
        everybody = visitors.asking(
            runs_pause_s=runs_pause_s, pages_pause_s=pages_pause_s, enough=self._enough
        )
        self.clients = everybody[: visitors.n_clients]
        readers = everybody[visitors.n_clients :]
        self._works: list[Callable[[], BaseProcess]] = [
            *(partial(_started, log_runs, client) for client in self.clients),
            partial(_started, read_pages, readers, visitors.paths),
        ]
        self._lock = threading.Lock()
        self._killed: set[int] = set()
        self._processes = [start() for start in self._works]

    def kill_client(self, random: Random) -> None:
        """SIGKILL for one of those that log."""
        with self._lock:
            number = random.randrange(len(self.clients))
            self._killed.add(number)
            self._processes[number].kill()

    def look_after(self) -> None:
        """Start those again that were killed, and those that failed."""
        with self._lock:
            for number, process in enumerate(self._processes):
                if process.exitcode is not None:
                    self._note_failure(number, process)
                    self._killed.discard(number)
                    self.n_started_again += 1
                    self._processes[number] = self._works[number]()

    def end(self) -> None:
        """Let everybody end what was begun, and wait for them."""
        self.look_after()
        self._enough.touch()
        for number, process in enumerate(self._processes):
            process.join(_LATE_S)
            if process.exitcode != 0:
                self._note_failure(number, process)

    def kill_all(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()

    def _note_failure(self, number: int, process: BaseProcess) -> None:
        if number not in self._killed:
            who = "a client" if number < len(self.clients) else "the readers"
            self.failures.append(f"{who}: exit code {process.exitcode}")


def _started(target: Callable[..., None], *arguments: object) -> BaseProcess:
    process = _FORKING.Process(target=target, args=arguments)
    process.start()
    return process
