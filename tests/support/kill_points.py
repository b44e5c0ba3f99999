"""Run as a program: do one piece of work in a child that is killed before its n-th statement.

    python kill_points.py DATABASE_FILE

For n = 1, 2, 3, … the file is copied, a forked child works on the copy and kills itself with
SIGKILL right before its n-th SQL statement, and then an undisturbed pass ends what is left.
Prints one line of JSON for each n, {"n", "killed", "contents"}, and ends after the first child
that came through. `contents` is a digest of all rows without clock columns.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, update

from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.perform import RetryPolicy, perform_next
from offdiag.store.database import Database
from offdiag.store.models import WorkRow

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.contents import contents

POLICY = RetryPolicy(max_attempts=5, first_delay_s=0.0)


def work_off(database: Database) -> None:
    with LeaseKeeper(database, lease_s=30) as keeper:
        while perform_next(database, keeper, POLICY) is not None:
            pass


def killed_before(statement: int, file: Path) -> bool:
    """Work in a child process that dies before its n-th statement. False if it came through."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(*_: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        work_off(Database(f"sqlite:///{file}", synchronous="normal"))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def expire_leases(database: Database) -> None:
    with database.write() as session:
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until - 3600))


def digest_after_recovery(file: Path) -> str:
    database = Database(f"sqlite:///{file}", synchronous="normal")
    expire_leases(database)
    work_off(database)
    rows = repr(contents(database))
    database.close()
    return hashlib.sha256(rows.encode()).hexdigest()


def main(original: Path) -> None:
    statement = 0
    killed = True
    while killed:
        statement += 1
        copy = original.with_name(f"killed-{statement}.db")
        shutil.copy(original, copy)
        killed = killed_before(statement, copy)
        line = {"n": statement, "killed": killed, "contents": digest_after_recovery(copy)}
        print(json.dumps(line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
