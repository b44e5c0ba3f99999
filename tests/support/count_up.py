"""Program: add one to a number in the database many times, reading it first each time."""

from __future__ import annotations

import json
import sys

from sqlalchemy import select

from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.processes import say


def main(url: str, times: str) -> None:
    database = Database(url, synchronous="normal")
    say("ready")
    sys.stdin.readline()
    for _ in range(int(times)):
        with database.write() as session:
            session.scalars(select(WorkRow).with_for_update()).one().attempts += 1
    database.close()
    say(json.dumps(int(times)))


if __name__ == "__main__":
    main(*sys.argv[1:])
