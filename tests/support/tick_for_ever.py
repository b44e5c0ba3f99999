"""Program: tick like a scheduler that is in a hurry, by a clock that runs fast, until it is ended.

    python -m support.tick_for_ever URL START SPEED

The clock starts at START (seconds since 1970) when this program was first started by the test,
told by the fourth argument (seconds of the machine), and runs SPEED times as fast as the real one.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

from offdiag.services.schedules.tick import tick
from offdiag.store.database import Database
from support.processes import say


def main(url: str, start: str, speed: str, began: str) -> None:
    database = Database(url, synchronous="normal")
    say("ticking")
    while True:
        moment = float(start) + (time.time() - float(began)) * float(speed)
        tick(database, datetime.fromtimestamp(moment, UTC))


if __name__ == "__main__":
    main(*sys.argv[1:])
