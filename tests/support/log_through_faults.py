"""Program: log and evaluate runs in a file whose disk fails now and then.

    python -m support.log_through_faults URL LEDGER N_RUNS

Each run is logged again until it is acknowledged. Ends with how often it was refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database
from support.ledgers import Client
from support.logging_runs import work_off
from support.processes import say


def main(url: str, ledger: str, n_runs: str) -> None:
    database = Database(url)
    client = Client(database, Path(ledger), Random(7))
    interrupted = 0
    for number in range(int(n_runs)):
        client.log(number)
        if number % 4 == 3:
            try:
                work_off(database)
            except DatabaseUnavailable:
                interrupted += 1
            # Whoever closes last empties the log, which waits for the disk as well.
            database.close()
    say(json.dumps({"refused": client.n_refused, "interrupted": interrupted}))


if __name__ == "__main__":
    main(*sys.argv[1:])
