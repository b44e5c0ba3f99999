"""Program: do one thing where it must fail, wait or be in somebody's way, and say what came of it.

python -m support.faults COMMAND ARGUMENTS…
"""

from __future__ import annotations

import json
import os
import resource
import sys

from offdiag.errors import OffdiagError
from offdiag.store.schema import open_database
from support.processes import say

NOBODY = 65534


def little_room(limit: str) -> None:
    """From now on no file may grow beyond a number of bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))


def open_with_little_room(url: str, limit: str) -> None:
    """Open a database."""
    little_room(limit)
    _say_error_of_opening(url)


def open_as_nobody(url: str) -> None:
    """Open a database as a user without rights: the superuser may write everything."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    _say_error_of_opening(url)


def loaded_by_opening(url: str) -> None:
    """Open a database, and tell which top-level modules that loaded."""
    open_database(url).close()
    say(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))


def hold_the_lock(url: str) -> None:
    """Hold the write lock of an SQLite file until a line comes in."""
    from offdiag.store.database import Database

    with Database(url).write():
        say("locked")
        sys.stdin.readline()


def work_with_little_room(url: str, limit: str) -> None:
    """Do one job."""
    from offdiag.errors import DatabaseUnavailable
    from offdiag.services.jobs.attempts import RetryPolicy
    from offdiag.services.jobs.leases import LeaseKeeper
    from offdiag.services.jobs.run_job import run_next_job
    from offdiag.store.database import Database

    database = Database(url, synchronous="normal")
    little_room(limit)
    try:
        with LeaseKeeper(database, lease_s=30) as keeper:
            outcome = run_next_job(database, keeper, RetryPolicy())
        said = "" if outcome is None else outcome.value
    except DatabaseUnavailable as error:
        said = f"unavailable: {error.message}"
    say(json.dumps(said))


def deliver_and_hang(root: str) -> None:
    """Deliver an edition to a folder, and hang when the first file is written, unfinished."""
    from offdiag.services.delivery.targets import deliver_to_folder
    from offdiag.settings import ReportsSettings
    from support.messages import parcel

    def hang(fd: object) -> None:
        say("written")
        sys.stdin.readline()

    os.fsync = hang
    deliver_to_folder(parcel(), "weekly", ReportsSettings(folder=root))


def _say_error_of_opening(url: str) -> None:
    try:
        open_database(url).close()
    except OffdiagError as error:
        say(json.dumps(error.to_dict()))
    else:
        say(json.dumps(None))


COMMANDS = {
    command.__name__: command
    for command in (
        *(open_with_little_room, open_as_nobody, loaded_by_opening, hold_the_lock),
        *(work_with_little_room, deliver_and_hang),
    )
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
