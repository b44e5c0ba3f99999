"""Run as a program: do one thing in a child that is killed before its n-th statement.

    python kill_points.py DATABASE_FILE [DEED]

For every third n, from 1, 2 or 3 on, the file is copied, a forked child does the deed on the copy
and kills itself with SIGKILL right before its n-th SQL statement, and then the same is done again
without disturbance. Where to begin is drawn, so that a few runs of a test meet every statement;
with OFFDIAG_LONG set each of them does. Prints one line of JSON for each n, {"n", "killed",
"contents"}, and ends after the first child that came through. `contents` is a digest of all rows
without clock columns.
"""

from __future__ import annotations

import hashlib
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
from support.quick_engines import remember_statements


def killed_before(statement: int, file: Path, deed: Deed) -> bool:
    """Act in a child process that dies before its n-th statement. False if it came through."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(*_: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        deed.do(opened(f"sqlite:///{file}"))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def digest_after_recovery(file: Path, deed: Deed) -> str:
    database = opened(f"sqlite:///{file}")
    deed.do_again(database)
    rows = repr(contents(database))
    database.close()
    return hashlib.sha256(rows.encode()).hexdigest()


def main(original: Path, deed: Deed) -> None:
    # Children find what this process compiled when it did the deed again.
    remember_statements()
    stride = 1 if "OFFDIAG_LONG" in os.environ else 3
    statement = 1 + secrets.randbelow(stride)
    killed = True
    while killed:
        copy = original.with_name(f"killed-{statement}.db")
        shutil.copy(original, copy)
        killed = killed_before(statement, copy, deed)
        line = {"n": statement, "killed": killed, "contents": digest_after_recovery(copy, deed)}
        print(json.dumps(line), flush=True)  # noqa: T201
        statement += stride


if __name__ == "__main__":
    main(Path(sys.argv[1]), DEEDS[sys.argv[2] if len(sys.argv) > 2 else "work"])
