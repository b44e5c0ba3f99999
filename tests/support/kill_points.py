"""Run as a program: do one thing in a child that is killed before its n-th statement.

    python kill_points.py DATABASE_FILE [DEED]

For each such n the file is copied, a forked child does the deed on the copy and kills itself with
SIGKILL right before its n-th SQL statement, and then the same is done again without disturbance.
What a killed process leaves depends on what it has committed, so n is one that is drawn from the
statements before each commit, and one after the last; with OFFDIAG_LONG set it is every
statement. Prints one line of JSON for each n, {"n", "killed",
"contents"}, and ends with a child that comes through. `contents` is a digest of all rows without
clock columns.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import secrets
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.contents import contents
from support.operations import DEEDS, Deed, opened
from support.processes import in_a_child
from support.quick_engines import remember_statements


def commits_of(file: Path, deed: Deed) -> list[int]:
    """How many statements a child had sent at each of its commits, and at its end."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        seen, found = itertools.count(1), [0]
        event.listen(Engine, "before_cursor_execute", lambda *_: found.append(next(seen)))
        committed: list[int] = []
        event.listen(Engine, "commit", lambda _: committed.append(found[-1]))
        deed.do(opened(f"sqlite:///{file}"))
        os.write(writing, json.dumps([*committed, found[-1]]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        ends: list[int] = json.load(pipe)
    os.wait()
    return ends


def statements_to_kill_before(ends: list[int]) -> list[int]:
    """One before each commit, one after the last; and the first that never comes."""
    if "OFFDIAG_LONG" in os.environ:
        return list(range(1, ends[-1] + 2))
    chosen = {ends[-1] + 1}
    for begin, end in itertools.pairwise([0, *ends]):
        chosen |= {begin + 1 + secrets.randbelow(end - begin)} if begin < end else set()
    return sorted(chosen)


def killed_before(statement: int, file: Path, deed: Deed) -> bool:
    """Act in a child process that dies before its n-th statement. False if it came through."""

    def act() -> None:
        seen = itertools.count(1)

        def count(*_: Any) -> None:
            if next(seen) == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        deed.do(opened(f"sqlite:///{file}"))

    return in_a_child(act) == -signal.SIGKILL


def digest_after_recovery(file: Path, deed: Deed) -> str:
    database = opened(f"sqlite:///{file}")
    deed.do_again(database)
    rows = repr(contents(database))
    database.close()
    return hashlib.sha256(rows.encode()).hexdigest()


def main(original: Path, deed: Deed) -> None:
    # Children find what this process compiled when it did the deed again.
    remember_statements()
    undisturbed = original.with_name("not-killed.db")
    shutil.copy(original, undisturbed)
    for statement in statements_to_kill_before(commits_of(undisturbed, deed)):
        copy = original.with_name(f"killed-{statement}.db")
        shutil.copy(original, copy)
        killed = killed_before(statement, copy, deed)
        line = {"n": statement, "killed": killed, "contents": digest_after_recovery(copy, deed)}
        print(json.dumps(line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), DEEDS[sys.argv[2] if len(sys.argv) > 2 else "work"])
