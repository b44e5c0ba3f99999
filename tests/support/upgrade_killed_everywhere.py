"""Program: upgrade a database again and again, each time killed some statements later.

The first statement is drawn, so that the kills of many runs fall everywhere.

After each kill it looks whether anything was left. Ends with the number of kills once an upgrade
got through.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import signal
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, inspect

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.processes import in_a_child, say
from support.quick_engines import remember_statements


def upgrade_until_killed(url: str, last_step: int) -> None:
    steps = 0

    def step(*_event: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == last_step:
            os.kill(os.getpid(), signal.SIGKILL)

    # Before each statement, and once more between the last of them and the commit.
    event.listen(Engine, "before_cursor_execute", step)
    event.listen(Engine, "commit", step)
    upgrade(Database(url))


def require_nothing(url: str) -> None:
    database = Database(url)
    with database.read() as session:
        tables = inspect(session.connection()).get_table_names()
    # No child may have a connection of this process.
    database.close()
    if tables:
        raise SystemExit(f"a killed upgrade left {tables}")


def load_everything() -> None:
    """Upgrade another database, so that no child has to read all revisions anew."""
    remember_statements()
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'registry.db'}", synchronous="normal")
        upgrade(database)
        database.close()


def main(url: str, stride: str) -> None:
    load_everything()
    kills = 0
    for last_step in itertools.count(1 + secrets.randbelow(int(stride)), int(stride)):
        ending = in_a_child(partial(upgrade_until_killed, url, last_step))
        if ending == 0:
            break
        if ending != -signal.SIGKILL:
            raise SystemExit(f"after {kills} kills an upgrade failed by itself: {ending}")
        kills += 1
        require_nothing(url)
    say(json.dumps({"kills": kills}))


if __name__ == "__main__":
    main(*sys.argv[1:])
