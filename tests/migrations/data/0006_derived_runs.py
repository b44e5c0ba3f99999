"""Runs that were logged before are derived from no other one."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from support.old_rows import RUN, document, execute, rows

LOADED = RUN
RECIPE = {"kind": "threshold", "threshold": 0.25}


def check(connection: Connection) -> None:
    kept = "SELECT name, derived_from, derivation FROM run"
    assert rows(connection, kept) == [("one", None, None)]

    derived = "UPDATE run SET derived_from = 'r_0', derivation = :recipe"
    execute(connection, derived, recipe=json.dumps(RECIPE))

    assert rows(connection, "SELECT derived_from FROM run") == [("r_0",)]
    assert document(connection, "SELECT derivation FROM run") == RECIPE
