"""Datasets of before have no groups of classes; groups keep their order."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from support.old_rows import DATASET, document, execute, rows

LOADED = DATASET
GROUPS = [{"group": "z", "members": ["b"]}, {"group": "a", "members": ["a"]}]


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT name, hierarchy FROM dataset") == [("pets", None)]

    execute(connection, "UPDATE dataset SET hierarchy = :given", given=json.dumps(GROUPS))

    assert document(connection, "SELECT hierarchy FROM dataset") == GROUPS
