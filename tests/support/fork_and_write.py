"""Program: fork with an open database, and write from both sides."""

from __future__ import annotations

import json
import os
import sys

from sqlalchemy import text

from offdiag.store.database import Database, Session
from support.processes import say
from support.rows import add_work

ROWS_EACH = 20


def driver_connection(session: Session) -> object:
    return session.connection().connection.dbapi_connection


def write(database: Database, name: str) -> None:
    for number in range(ROWS_EACH):
        with database.write() as session:
            add_work(session, key=f"{name}:{number}")


def main(url: str) -> None:
    database = Database(url, synchronous="normal")
    with database.read() as session:
        ours = driver_connection(session)
    child = os.fork()
    if child == 0:
        with database.read() as session:
            if driver_connection(session) is ours:
                os._exit(1)
        write(database, "child")
        database.close()
        os._exit(0)
    write(database, "parent")
    _, status = os.waitpid(child, 0)
    with database.read() as session:
        is_the_same = driver_connection(session) is ours
        written = session.scalar(text("SELECT count(*) FROM work"))
    database.close()
    say(
        json.dumps(
            {
                "child": os.waitstatus_to_exitcode(status),
                "parent_kept_its_connection": is_the_same,
                "written": written,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
