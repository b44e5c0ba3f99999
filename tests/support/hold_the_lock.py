"""Program: hold the write lock of an SQLite file until a line comes in."""

from __future__ import annotations

import sys

from offdiag.store.database import Database
from support.processes import say


def main(url: str) -> None:
    with Database(url).write():
        say("locked")
        sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
