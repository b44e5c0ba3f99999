"""A scheduler that goes on while the clock of its machine is set, by a library that fakes it.

The program sets the clock, counts rounds of the scheduler for a few seconds, and says how many.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from unittest.mock import patch

from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.schedules.due import DueSchedules, run_due_schedules
from offdiag.store.database import Database
from offdiag_workers import scheduler
from support.processes import say

_SECONDS = 6


def main(url: str) -> None:
    clock = Path(os.environ["FAKETIME_TIMESTAMP_FILE"])
    n_rounds = 0

    def counted(database: Database) -> DueSchedules:
        nonlocal n_rounds
        n_rounds += 1
        return run_due_schedules(database)

    found: dict[str, int] = {}
    with (
        patch.object(scheduler, "run_due_schedules", counted),
        scheduler.run_scheduler(Database(url), RetryPolicy()),
    ):
        for offset in ("+0", "-3600", "+15552000", "+0"):
            clock.write_text(f"{offset}\n", encoding="utf-8")
            before = n_rounds
            # Not `time.sleep`, which such a library may confuse.
            threading.Event().wait(_SECONDS)
            found[f"{len(found)} {offset}"] = n_rounds - before
    say(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
