"""Logging runs as a client that writes down what was acknowledged, and nothing else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from offdiag.domain.runs import RunFacts
from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database
from support.logging_runs import log
from support.processes import clean_environment
from support.quick_starts import run_quickly

_N_CASES = 40


class Client:
    """Logs runs of 40 cases and two classes, each again until it is acknowledged.

    `refused` is called after each attempt that was not acknowledged. Clients that log into one
    registry have different names.
    """

    def __init__(
        self,
        database: Database,
        ledger: Path,
        random: Random,
        refused: Callable[[], object] = lambda: None,
        name: str = "run",
    ) -> None:
        self.ledger = ledger
        self.n_acknowledged = 0
        self.n_refused = 0
        self._database = database
        self._random = random
        self._refused = refused
        self._name = name
        self._truth = [random.choice("ab") for _ in range(_N_CASES)]

    def log(self, number: int) -> None:
        """Log one run of its own content, and add it to the ledger."""
        answers = [self._random.choice("ab") for _ in range(_N_CASES)]
        key = f"{self._name}-{number}"
        while True:
            try:
                run = log(
                    self._database,
                    y_true=self._truth,
                    y_pred=answers,
                    labels=["a", "b"],
                    facts=RunFacts(name=key, client_key=key),
                )
            except DatabaseUnavailable:
                self.n_refused += 1
                self._refused()
            else:
                break
        with self.ledger.open("a", encoding="utf-8") as entries:
            entries.write(f"{key} {run.content_digest}\n")
        self.n_acknowledged += 1


def log_until_killed(url: str, ledger: str, name: str) -> None:
    """Log runs and write them into a ledger that others write into too; for a process."""
    database = Database(url, synchronous="normal")
    client = Client(database, Path(ledger), Random(name), name=name)
    while True:
        client.log(client.n_acknowledged)
        # What is logged has to be evaluated, too.
        time.sleep(0.05)


def assert_verified(database: Database, ledger: Path) -> None:
    """`offdiag verify --ledger`, called as by a user, finds everything that was acknowledged."""
    command = str(Path(sys.executable).with_name("offdiag"))
    checked = run_quickly(
        [command, "verify", "--ledger", ledger, "--url", database.url], env=clean_environment()
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
