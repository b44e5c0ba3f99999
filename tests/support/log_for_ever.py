"""Program: log runs until it is killed, and note each in a ledger once it is acknowledged.

    python -m support.log_for_ever URL LEDGER

Says a line after each run.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.logging_runs import log
from support.processes import say


def main(url: str, ledger: str) -> None:
    database = Database(url, synchronous="normal")
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 1_000)
    with Path(ledger).open("a", encoding="utf-8") as entries:
        for number in itertools.count():
            key = f"job-{number}"
            run = log(
                database,
                facts=RunFacts(name=key, client_key=key),
                y_true=truth,
                y_pred=rng.integers(0, 4, 1_000),
            )
            entries.write(f"{key} {run.content_digest}\n")
            entries.flush()
            say(key)


if __name__ == "__main__":
    main(*sys.argv[1:])
