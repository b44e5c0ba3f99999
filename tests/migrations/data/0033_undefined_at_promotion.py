"""Decisions of before stay, with no reasons."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, rows

PROMOTION = """
INSERT INTO promotion (dataset_id, role, run_id, run_name, reason, at, metrics)
    VALUES (1, 'champion', 'r_1', 'one', 'the first one', :now, '{"mcc": null}')
"""
LOADED = (*RUN, PROMOTION)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT run_id, undefined FROM promotion") == [("r_1", None)]
