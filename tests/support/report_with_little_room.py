"""Program: do one piece of work while no file may grow beyond a number of bytes."""

from __future__ import annotations

import json
import resource
import sys

from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.store.database import Database
from support.processes import say


def main(url: str, limit: str) -> None:
    database = Database(url, synchronous="normal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        with LeaseKeeper(database, lease_s=30) as keeper:
            outcome = run_next_job(database, keeper, RetryPolicy())
        said = "" if outcome is None else outcome.value
    except DatabaseUnavailable as error:
        said = f"unavailable: {error.message}"
    say(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
