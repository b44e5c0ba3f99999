"""Program: upgrade a database once a line comes in, and tell how many tables this process made."""

from __future__ import annotations

import json
import sys
from typing import Any

from sqlalchemy import Engine, event

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.processes import say


def main(url: str) -> None:
    made = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        # Not the copies with which SQLite alters a table.
        if statement.lstrip().startswith("CREATE TABLE") and "_alembic_tmp_" not in statement:
            made.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    say("ready")
    sys.stdin.readline()
    state = upgrade(Database(url))
    say(json.dumps({"made": len(made), "current": state.current}))


if __name__ == "__main__":
    main(*sys.argv[1:])
